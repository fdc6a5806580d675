#!/usr/bin/env python3
"""Would ask an online service. It asks for no network in its manifest, so it never gets there."""

import json
import socket

try:
    socket.create_connection(("192.0.2.1", 443), timeout=1).close()
    why = "the service gave a strange answer"
except OSError as problem:
    why = f"the service cannot be reached: {problem.strerror or problem}"
print(json.dumps({"version": "0", "type": "error", "errorCode": "unreachable", "errorMessage": why}))
print(json.dumps({"version": "0", "type": "done", "ok": False, "summary": why}))
