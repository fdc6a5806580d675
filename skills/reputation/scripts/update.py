#!/usr/bin/env python3
"""Moves a subject's score by a delta, for a reason that is kept in its history."""

import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lib"))
from jsonfile import changing  # noqa: E402
from reputation import (  # noqa: E402
    DELTA_MAX, FILE, REASON_CHARS_MAX, SUBJECTS_MAX, clamp, entry_of, settings, subject_of,
)
from toolprotocol import Refusal, emit, integer, serve, text  # noqa: E402


def update(request):
    limits = settings(request["config"])
    subject = subject_of(request["input"])
    delta = integer(request["input"], "delta", -DELTA_MAX, DELTA_MAX, default=None)
    if delta is None:
        raise Refusal("invalid_input", "`delta` is required")
    reason = text(request["input"], "reason", REASON_CHARS_MAX)

    with changing(FILE) as entries:
        if subject not in entries and len(entries) >= SUBJECTS_MAX:
            raise Refusal("reputation_full", f"{SUBJECTS_MAX} subjects are kept already")
        entry = entry_of(entries, subject, limits)
        before = entry["score"]
        score = clamp(before + delta, limits)
        history = [*entry["history"], {"delta": delta, "reason": reason, "score": score}]
        # A plain negative slice would keep everything when the limit is 0.
        entries[subject] = {"score": score, "history": history[max(0, len(history) - limits["history_max"]):]}

    emit("state_patch", patch={"reputation": {subject: score}})
    return {"subject": subject, "before": before, "score": score}, f"{subject}: {before} -> {score}"


serve(update)
