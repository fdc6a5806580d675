#!/usr/bin/env python3
"""Finds what was stored: one key exactly, or the entries that share words with a query, best first."""

import json
import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lib"))
from jsonfile import load  # noqa: E402
from memory import FILE, key_of  # noqa: E402
from toolprotocol import Refusal, integer, serve, text  # noqa: E402

QUERY_CHARS_MAX = 500
MATCHES_MAX = 50
MATCHES_DEFAULT = 10


def recall(request):
    key = key_of(request["input"], required=False)
    query = text(request["input"], "query", QUERY_CHARS_MAX, required=False)
    limit = integer(request["input"], "limit", 1, MATCHES_MAX, MATCHES_DEFAULT)
    if (key is None) == (query is None):
        raise Refusal("invalid_input", "give either `key` or `query`")
    entries = load(FILE)
    return by_key(entries, key) if query is None else by_words(entries, query, limit)


def by_key(entries, key):
    if key not in entries:
        return {"found": False, "matches": []}, f"nothing is stored under `{key}`"
    value = entries[key]
    return {"found": True, "value": value, "matches": [{"key": key, "value": value}]}, f"recalled `{key}`"


def by_words(entries, query, limit):
    wanted = words(query)
    scored = [(len(wanted & entry_words(key, value)), key) for key, value in entries.items()]
    # More shared words first, then by key, so that equal matches keep one order.
    best = sorted((-score, key) for score, key in scored if score > 0)[:limit]
    matches = [{"key": key, "value": entries[key]} for _, key in best]
    return {"found": bool(matches), "matches": matches}, f"{len(matches)} found for `{query}`"


def entry_words(key, value):
    return words(key) | words(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def words(content):
    # An underscore joins words in keys such as `favourite_tea`, so it separates here.
    return set(re.findall(r"[^\W_]+", content.casefold()))


serve(recall)
