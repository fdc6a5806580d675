#!/usr/bin/env python3
"""Keeps a value under a key, replacing what was there."""

import json
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lib"))
from jsonfile import changing  # noqa: E402
from memory import FILE, KEYS_MAX, VALUE_BYTES_MAX, key_of  # noqa: E402
from toolprotocol import Refusal, serve  # noqa: E402


def store(request):
    key = key_of(request["input"])
    value = checked_value(request["input"])
    with changing(FILE) as entries:
        replaced = key in entries
        if not replaced and len(entries) >= KEYS_MAX:
            raise Refusal("memory_full", f"{KEYS_MAX} keys are kept already; forget one first")
        entries[key] = value
        count = len(entries)
    summary = f"replaced `{key}`" if replaced else f"stored `{key}`"
    return {"key": key, "replaced": replaced, "count": count}, summary


def checked_value(fields):
    value = fields.get("value")
    if value is None:
        raise Refusal("invalid_input", "`value` is required and must not be null; use forget to remove a key")
    try:
        size = len(json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8"))
    except (ValueError, RecursionError) as problem:
        raise Refusal("invalid_input", f"`value` cannot be stored: {problem}") from problem
    if size > VALUE_BYTES_MAX:
        message = f"`value` takes {size} bytes as JSON; at most {VALUE_BYTES_MAX} are kept"
        raise Refusal("invalid_input", message)
    return value


serve(store)
