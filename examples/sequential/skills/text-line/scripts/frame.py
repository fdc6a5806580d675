#!/usr/bin/env python3
"""Puts a frame around a text."""

import json
import sys

text = json.load(sys.stdin)["input"]["text"]
print(json.dumps({"version": "0", "type": "done", "ok": True, "output": {"text": f"*** {text} ***"}}))
