"""What the scripts of this skill agree on: the file, the limits and the shape of a key."""

from toolprotocol import text

FILE = "memory.json"
KEYS_MAX = 1000
KEY_CHARS_MAX = 200
VALUE_BYTES_MAX = 8192


def key_of(fields, required=True):
    """Returns the trimmed key, or None when it is absent and not required."""
    return text(fields, "key", KEY_CHARS_MAX, required)
