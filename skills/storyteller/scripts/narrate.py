#!/usr/bin/env python3
"""Tells a short scene from templates in the configured style. Knows the templates, no language model."""

import hashlib
import json
import sys
from pathlib import Path

sys.dont_write_bytecode = True
SKILL = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SKILL / "lib"))
from toolprotocol import Refusal, emit, serve, text  # noqa: E402

PART_CHARS_MAX = 200
STYLE_DEFAULT = "plain"


def narrate(request):
    styles = json.loads((SKILL / "assets" / "styles.json").read_text(encoding="utf-8"))
    name = request["config"].get("style", STYLE_DEFAULT)
    if not isinstance(name, str) or name not in styles:
        known = sorted(styles)
        raise Refusal("invalid_config", f"no style `{name}`; known: {', '.join(known)}", known=known)
    style = styles[name]

    parts = {
        "subject": part(request, "subject", None),
        "action": part(request, "action", style["action"]),
        "place": part(request, "place", style["place"]),
    }
    parts["Subject"] = parts["subject"][0].upper() + parts["subject"][1:]
    # The parts choose the opening, so the same request always tells the same story.
    digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode("utf-8")).digest()
    opening = style["openings"][digest[0] % len(style["openings"])]
    narrative = " ".join(sentence.format(**parts) for sentence in [opening, style["turn"]])
    emit("ui_event", event="narrative_choice", payload={"choices": style["choices"]})
    return {"narrative": narrative}, f"told in the {name} style"


def part(request, name, default):
    value = text(request["input"], name, PART_CHARS_MAX, required=default is None)
    return default if value is None else " ".join(value.split())


serve(narrate)
