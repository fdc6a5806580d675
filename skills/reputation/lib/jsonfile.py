"""One JSON object in a file of the folder for what should last, safe under many processes at once.

Writers take a lock and replace the file as a whole, so a reader needs no lock and never sees half a write.
It must not know what the object means.
"""

import contextlib
import fcntl
import json
import os
import time
from pathlib import Path

from toolprotocol import Refusal

# artel names the folder of the caller; a script that is run by hand keeps its data beside itself.
DATA = Path(os.environ.get("ARTEL_DATA_DIR") or Path(__file__).resolve().parent.parent / "data")
LOCK_WAIT_SECONDS_MAX = 10
LOCK_POLL_SECONDS = 0.005


def load(name):
    """Returns the object in `data/<name>`, empty when nothing was stored yet."""
    with storage_problems():
        try:
            content = (DATA / name).read_text(encoding="utf-8")
        except FileNotFoundError:
            return {}
    try:
        value = json.loads(content)
    except ValueError as problem:
        raise Refusal("storage_damaged", f"data/{name} is not valid JSON; repair or remove it") from problem
    if not isinstance(value, dict):
        raise Refusal("storage_damaged", f"data/{name} is not a JSON object; repair or remove it")
    return value


@contextlib.contextmanager
def changing(name):
    """Gives the object for changing and saves it at the end, unless the block raises."""
    with storage_problems():
        DATA.mkdir(exist_ok=True)
        lock = open(DATA / "lock", "ab")
    with lock:
        wait_for(lock)
        value = load(name)
        yield value
        with storage_problems():
            replace(DATA / name, value)


def wait_for(lock):
    deadline = time.monotonic() + LOCK_WAIT_SECONDS_MAX
    while True:
        try:
            return fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                message = f"another process held data/lock for {LOCK_WAIT_SECONDS_MAX} s"
                raise Refusal("storage_busy", message) from None
            time.sleep(LOCK_POLL_SECONDS)


def replace(path, value):
    # One temporary name is enough under the lock, and a killed writer leaves at most that one file.
    temporary = path.with_name(path.name + ".tmp")
    with open(temporary, "w", encoding="utf-8") as file:
        json.dump(value, file, ensure_ascii=False, sort_keys=True, allow_nan=False)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


@contextlib.contextmanager
def storage_problems():
    try:
        yield
    except UnicodeDecodeError as problem:
        raise Refusal("storage_damaged", "the data file is not UTF-8; repair or remove it") from problem
    except OSError as problem:
        raise Refusal("storage_failed", f"cannot use the data folder: {problem.strerror}") from problem
