"""The program `autotune`, as pip installs it."""
import os
import sys

from ._library import environment, program


def main() -> None:
    path = program()
    os.execve(path, [path] + sys.argv[1:], environment())
