#!/usr/bin/env python3
"""Adds up the words that the workers counted. A worker that failed is null, and is named instead."""

import json
import sys

results = json.load(sys.stdin)["dependencies"]
counts = {name: result["output"]["words"] for name, result in results.items() if result}
missing = sorted(set(results) - set(counts))
output = {"total": sum(counts.values()), "missing": missing}
print(json.dumps({"version": "0", "type": "state_patch", "patch": {"counts": counts}}))
print(json.dumps({"version": "0", "type": "done", "ok": True, "output": output}))
