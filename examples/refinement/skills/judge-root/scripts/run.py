#!/usr/bin/env python3
"""The critic: accepts a guess whose square is near enough to the number."""

import json
import sys

given = json.load(sys.stdin)["input"]
draft = given["draft"]
if draft["accepted"]:
    said, accepted = "accepted before", True
else:
    error = abs(draft["guess"] ** 2 - given["number"])
    accepted = error <= given["threshold"]
    said = f"round {draft['rounds']}: off by {error:.4f}, {'accepted' if accepted else 'not good enough'}"
print(json.dumps({"version": "0", "type": "log", "level": "info", "message": said}))
print(json.dumps({"version": "0", "type": "done", "ok": True, "output": {**draft, "accepted": accepted}}))
