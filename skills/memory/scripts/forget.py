#!/usr/bin/env python3
"""Removes one key; a key that is not there is no error, so repeating is safe."""

import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lib"))
from jsonfile import changing  # noqa: E402
from memory import FILE, key_of  # noqa: E402
from toolprotocol import serve  # noqa: E402


def forget(request):
    key = key_of(request["input"])
    with changing(FILE) as entries:
        forgotten = entries.pop(key, None) is not None
    return {"key": key, "forgotten": forgotten}, f"forgot `{key}`" if forgotten else f"`{key}` was not stored"


serve(forget)
