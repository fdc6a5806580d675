#!/usr/bin/env python3
"""Begins every word with a capital."""

import json
import sys

text = json.load(sys.stdin)["input"]["text"]
print(json.dumps({"version": "0", "type": "done", "ok": True, "output": {"text": text.title()}}))
