#!/usr/bin/env python3
"""Moves the simulated robot to a named location. Knows the map, nothing about what lies there."""

import json
import math
import sys
from pathlib import Path

sys.dont_write_bytecode = True
SKILL = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SKILL / "lib"))
from toolprotocol import Refusal, emit, log, number, serve, text  # noqa: E402

LOCATION_CHARS_MAX = 100
SPEED_MAX = 10  # metres per second


def navigate(request):
    world = json.loads((SKILL / "assets" / "world.json").read_text(encoding="utf-8"))
    wanted = text(request["input"], "location", LOCATION_CHARS_MAX)
    location = "-".join(wanted.lower().split())
    if location not in world["locations"]:
        known = sorted(world["locations"])
        raise Refusal("unknown_location", f"no location `{wanted}`; known: {', '.join(known)}", known=known)
    speed = number(request["input"], "speed", 1.0)
    if not 0 < speed <= SPEED_MAX:
        raise Refusal("invalid_input", f"`speed` must be above 0 and at most {SPEED_MAX}")

    target = world["locations"][location]["position"]
    start = current_position(request["state"]) or world["locations"][world["start"]]["position"]
    metres = math.hypot(target["x"] - start["x"], target["y"] - start["y"])
    log("info", f"driving {metres:.1f} m to the {location}, {metres / speed:.1f} s at {speed:g} m/s")

    # What was detected elsewhere is out of reach, and null removes it from the state.
    emit("state_patch", patch={"robot": {"location": location, "position": target, "detected": None}})
    emit("ui_event", event="navigation.complete", payload={"final_position": target})
    return {"status": "success", "final_position": target}, f"reached the {location}"


def current_position(state):
    robot = state.get("robot")
    position = robot.get("position") if isinstance(robot, dict) else None
    if not isinstance(position, dict):
        return None
    return {"x": number(position, "x", 0), "y": number(position, "y", 0)}


serve(navigate)
