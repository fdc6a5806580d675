#!/usr/bin/env python3
"""Publishes the notes: here, as an event and in the state of the run."""

import json
import sys

notes = json.load(sys.stdin)["input"]["notes"]
print(json.dumps({"version": "0", "type": "ui_event", "event": "release.published", "payload": {"notes": notes}}))
print(json.dumps({"version": "0", "type": "state_patch", "patch": {"published": notes}}))
print(json.dumps({"version": "0", "type": "done", "ok": True, "output": {"published": True}}))
