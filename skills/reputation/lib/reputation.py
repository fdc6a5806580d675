"""What the scripts of this skill agree on: the file, the limits and the configuration."""

from toolprotocol import Refusal, integer, text

FILE = "reputation.json"
SUBJECTS_MAX = 1000
SUBJECT_CHARS_MAX = 200
REASON_CHARS_MAX = 500
DELTA_MAX = 100
HISTORY_MAX = 20


def subject_of(fields):
    """Returns the trimmed subject."""
    return text(fields, "subject", SUBJECT_CHARS_MAX)


def settings(config):
    """Returns the configuration with defaults, checked against the same bounds as `config-schema.json`."""
    try:
        return {
            "score_min": integer(config, "score_min", -100, 0, -100),
            "score_max": integer(config, "score_max", 0, 100, 100),
            "start_score": integer(config, "start_score", -100, 100, 0),
            "history_max": integer(config, "history_max", 0, HISTORY_MAX, HISTORY_MAX),
        }
    except Refusal as refusal:
        raise Refusal("invalid_config", f"configuration: {refusal}") from refusal


def clamp(score, limits):
    """Returns the score moved into the configured range."""
    return max(limits["score_min"], min(limits["score_max"], score))


def entry_of(entries, subject, limits):
    """Returns the stored `{score, history}` of a subject, or a fresh one at the start score."""
    entry = entries.get(subject)
    if entry is None:
        return {"score": clamp(limits["start_score"], limits), "history": []}
    shape = (type(entry.get("score")), type(entry.get("history"))) if isinstance(entry, dict) else None
    if shape != (int, list):
        raise Refusal("storage_damaged", f"`{subject}` in data/{FILE} is damaged; repair or remove it")
    return entry
