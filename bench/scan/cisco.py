"""Scans folders with Cisco's Skill Scanner, in one process, and prints a line for each skill: its folder, the worst
severity that was found, and the seconds it took. What the program itself needs to start is not part of them.

usage: cisco.py SKILL_SCANNER FOLDER...
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path


def main():
    program, *folders = sys.argv[1:]
    for folder in folders:
        with tempfile.TemporaryDirectory() as place:
            report = Path(place) / "report.json"
            subprocess.run(
                [program, "scan-all", folder, "--recursive", "--use-behavioral"]
                + ["--format", "json", "--compact", "--output", str(report)],
                check=True,
                stdout=subprocess.DEVNULL,
            )
            for result in json.loads(report.read_text())["results"]:
                print(result["skill_path"], result["max_severity"].lower(), result["scan_duration_seconds"])


main()
