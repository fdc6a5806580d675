"""Tool protocol, version "0": one JSON object on stdin, one event per line on stdout, exactly one `done`.

Reads the request, checks its fields and writes the events. It must not know what the skill does.
"""

import json
import sys

STDIN_BYTES_MAX = 64 * 1024 * 1024
# JSON numbers above this lose digits in programs that read them as 64-bit floats.
INTEGER_MAX = 2**53 - 1


class Refusal(Exception):
    """The request cannot be fulfilled: becomes an `error` event and `done` with `ok` false, never a crash."""

    def __init__(self, code, message, **details):
        super().__init__(message)
        self.code = code
        self.details = details


def serve(handle):
    """Answers the request on stdin; `handle(request)` returns `(output, summary)` or raises `Refusal`."""
    try:
        output, summary = handle(read_request())
    except Refusal as refusal:
        emit("error", errorCode=refusal.code, errorMessage=str(refusal), details=refusal.details)
        emit("done", ok=False, summary=str(refusal))
    else:
        emit("done", ok=True, summary=summary, output=output)


def emit(event_type, **fields):
    """Writes one event and flushes it, so that a reader sees it while the script is still running."""
    line = json.dumps({"version": "0", "type": event_type, **fields}, ensure_ascii=False, allow_nan=False)
    sys.stdout.buffer.write(line.encode("utf-8", errors="replace") + b"\n")
    sys.stdout.buffer.flush()


def log(level, message):
    """Writes a `log` event: shown to people, without effect on the result."""
    emit("log", level=level, message=message)


def read_request():
    """Returns `{input, config, state, dependencies}`, each an object; an empty stdin counts as `{}`."""
    raw = sys.stdin.buffer.read(STDIN_BYTES_MAX + 1)
    if len(raw) > STDIN_BYTES_MAX:
        raise Refusal("invalid_request", f"stdin is longer than {STDIN_BYTES_MAX} bytes")
    try:
        request = json.loads(raw.decode("utf-8"), parse_constant=refuse_constant) if raw.strip() else {}
    except (ValueError, RecursionError) as problem:
        raise Refusal("invalid_request", f"stdin is not one JSON object: {problem}") from problem
    if not isinstance(request, dict):
        raise Refusal("invalid_request", "stdin must be one JSON object")
    return {name: section(request, name) for name in ("input", "config", "state", "dependencies")}


def refuse_constant(name):
    raise ValueError(f"{name} is not JSON")


def section(request, name):
    value = request.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Refusal("invalid_request", f"`{name}` must be an object")
    return value


def outputs(request):
    """Returns the outputs of the dependencies that succeeded, in the order given."""
    # An optional dependency that failed is null.
    answers = [answer for answer in request["dependencies"].values() if isinstance(answer, dict)]
    found = [answer.get("output") for answer in answers if answer.get("ok") is True]
    return [output for output in found if isinstance(output, dict)]


def text(fields, name, chars_max, required=True):
    """Returns a string without surrounding space, or None when it is absent and not required."""
    value = fields.get(name)
    if value is None and not required:
        return None
    if value is None:
        raise Refusal("invalid_input", f"`{name}` is required")
    if not isinstance(value, str):
        raise Refusal("invalid_input", f"`{name}` must be a string")
    value = value.strip()
    if not 1 <= len(value) <= chars_max:
        raise Refusal("invalid_input", f"`{name}` must have 1 to {chars_max} characters")
    if any(0xD800 <= ord(character) <= 0xDFFF for character in value):
        raise Refusal("invalid_input", f"`{name}` is not valid Unicode")
    return value


def number(fields, name, default):
    """Returns a number of bounded size, or the default when it is absent."""
    value = fields.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Refusal("invalid_input", f"`{name}` must be a number")
    if not -INTEGER_MAX <= value <= INTEGER_MAX:
        raise Refusal("invalid_input", f"`{name}` must lie within {INTEGER_MAX} either way")
    return value


def integer(fields, name, low, high, default):
    """Returns a whole number from `low` to `high`, or the default when it is absent; 3.0 counts as 3."""
    value = number(fields, name, default)
    if value is None:
        return None
    if value != int(value) or not low <= value <= high:
        raise Refusal("invalid_input", f"`{name}` must be a whole number from {low} to {high}")
    return int(value)
