#!/usr/bin/env python3
"""Lists the objects in the area where the simulated robot stands. Knows the world, never moves the robot."""

import json
import sys
from pathlib import Path

sys.dont_write_bytecode = True
SKILL = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SKILL / "lib"))
from toolprotocol import Refusal, emit, log, outputs, serve, text  # noqa: E402

AREA_CHARS_MAX = 100


def detect(request):
    locations = json.loads((SKILL / "assets" / "world.json").read_text(encoding="utf-8"))["locations"]
    known = sorted(locations)
    robot = request["state"].get("robot")
    robot = robot if isinstance(robot, dict) else {}
    here = robot_location(robot, outputs(request), locations)

    wanted = text(request["input"], "area", AREA_CHARS_MAX, required=False)
    if wanted is None and here is None:
        message = f"`area` is required when nothing says where the robot is; known: {', '.join(known)}"
        raise Refusal("invalid_input", message, known=known)
    area = here if wanted is None else "-".join(wanted.lower().split())
    if area not in locations:
        raise Refusal("unknown_area", f"no area `{wanted}`; known: {', '.join(known)}", known=known)
    if here is None:
        log("warn", f"nothing says where the robot is, assuming the {area}")
    elif here != area:
        raise Refusal("not_there", f"the robot is at `{here}` and cannot see `{area}`: navigate there first")

    objects = [name for name in sorted(locations[area]["objects"]) if name != robot.get("holding")]
    emit("state_patch", patch={"robot": {"detected": {"area": area, "objects": objects}}})
    return {"objects": objects}, f"{area}: {', '.join(objects) or 'nothing'}"


def robot_location(robot, prerequisites, locations):
    """The run's state knows best; without it, the last place that a prerequisite drove to; else None."""
    if robot.get("location") in sorted(locations):
        return robot["location"]
    for output in reversed(prerequisites):
        for name, place in sorted(locations.items()):
            if place["position"] == output.get("final_position"):
                return name
    return None


serve(detect)
