"""Keeps what a program starts in the process group of the program, so that all of it can be killed."""

import subprocess

_start = subprocess.Popen.__init__


def _start_in_our_group(self, *arguments, **options):
    options.pop("start_new_session", None)
    _start(self, *arguments, **options)


subprocess.Popen.__init__ = _start_in_our_group
