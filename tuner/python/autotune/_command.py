"""Runs the program `autotune` of the wheel."""
import os
import sys

from ._library import environment, program


def main() -> None:
    path = program()
    os.execve(path, [path] + sys.argv[1:], environment())
