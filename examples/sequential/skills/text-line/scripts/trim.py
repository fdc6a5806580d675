#!/usr/bin/env python3
"""Takes away what is too much between words."""

import json
import sys

text = json.load(sys.stdin)["input"]["text"]
print(json.dumps({"version": "0", "type": "done", "ok": True, "output": {"text": " ".join(text.split())}}))
