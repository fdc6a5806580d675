#!/usr/bin/env python3
"""Tells a subject's score and the latest reasons for it."""

import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lib"))
from jsonfile import load  # noqa: E402
from reputation import FILE, clamp, entry_of, settings, subject_of  # noqa: E402
from toolprotocol import serve  # noqa: E402


def query(request):
    limits = settings(request["config"])
    subject = subject_of(request["input"])
    entries = load(FILE)
    entry = entry_of(entries, subject, limits)
    # The range may have been narrowed since the score was written.
    score = clamp(entry["score"], limits)
    known = subject in entries
    output = {"subject": subject, "known": known, "score": score, "history": entry["history"]}
    return output, f"{subject}: {score}" if known else f"nothing is known about {subject}"


serve(query)
