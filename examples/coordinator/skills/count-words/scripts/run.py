#!/usr/bin/env python3
"""Counts the words of one text."""

import json
import sys

text = json.load(sys.stdin)["input"]["text"]
words = len(text.split())
print(json.dumps({"version": "0", "type": "done", "ok": True, "summary": f"{words} words", "output": {"words": words}}))
