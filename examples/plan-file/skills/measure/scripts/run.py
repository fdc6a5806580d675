#!/usr/bin/env python3
"""Reads a thermometer. The one in the cellar is broken, and always will be."""

import json
import sys

place = json.load(sys.stdin)["input"]["place"]
readings = {"roof": 21.5, "garden": 18.0}
if place in readings:
    celsius = readings[place]
    print(json.dumps({"version": "0", "type": "state_patch", "patch": {"celsius": {place: celsius}}}))
    print(json.dumps({"version": "0", "type": "done", "ok": True, "output": {"celsius": celsius}}))
else:
    print(json.dumps({"version": "0", "type": "error", "errorCode": "no_signal", "errorMessage": "no signal"}))
    print(json.dumps({"version": "0", "type": "done", "ok": False, "summary": f"the thermometer in the {place} is broken"}))
