#!/usr/bin/env python3
"""Closes the simulated gripper around one object. Knows the world, neither moves nor looks by itself."""

import json
import sys
from pathlib import Path

sys.dont_write_bytecode = True
SKILL = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SKILL / "lib"))
from toolprotocol import Refusal, emit, log, outputs, serve, text  # noqa: E402

OBJECT_CHARS_MAX = 100


def grasp(request):
    locations = json.loads((SKILL / "assets" / "world.json").read_text(encoding="utf-8"))["locations"]
    known = sorted(name for place in locations.values() for name in place["objects"])
    robot = request["state"].get("robot")
    robot = robot if isinstance(robot, dict) else {}

    object_id = text(request["input"], "object_id", OBJECT_CHARS_MAX)
    if object_id not in known:
        raise Refusal("unknown_object", f"no object `{object_id}`; known: {', '.join(known)}", known=known)
    held = robot.get("holding")
    if held is not None and held != object_id:
        raise Refusal("hand_full", f"the gripper already holds `{held}`")
    if held is None:
        check_within_reach(object_id, detected_objects(request, robot))

    emit("state_patch", patch={"robot": {"holding": object_id}})
    return {"grasped": True}, f"holding the {object_id}"


def detected_objects(request, robot):
    """What the caller names wins, then the run's state, then a prerequisite that detected; else None."""
    candidates = request["input"].get("candidates")
    detected = robot.get("detected")
    if candidates is not None:
        if not isinstance(candidates, list) or not all(isinstance(name, str) for name in candidates):
            raise Refusal("invalid_input", "`candidates` must be an array of strings")
        return candidates
    if isinstance(detected, dict) and isinstance(detected.get("objects"), list):
        return detected["objects"]
    for output in reversed(outputs(request)):
        if isinstance(output.get("objects"), list):
            return output["objects"]
    return None


def check_within_reach(object_id, detected):
    if detected is None:
        log("warn", f"nothing was detected before, assuming that the {object_id} is within reach")
    elif object_id not in detected:
        seen = ", ".join(map(str, detected)) or "nothing"
        message = f"`{object_id}` is not within reach; detected: {seen}"
        raise Refusal("not_detected", message, detected=detected)


serve(grasp)
