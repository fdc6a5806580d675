#!/usr/bin/env python3
"""Reads one JSON object on stdin, writes one JSON event a line on stdout, the last one `done`."""
import json
import sys


def emit(**event):
    print(json.dumps({"version": "0", **event}), flush=True)


request = json.load(sys.stdin)
who = request.get("input", {}).get("who", "world")
emit(type="log", level="info", message=f"greeting {who}")
emit(type="done", ok=True, output={"greeting": f"Hello, {who}!"})
