#!/usr/bin/env python3
"""Runs a command on terminals of several widths: widths.py [--grows] COLUMNS[,COLUMNS...] COMMAND...

Exit code 1, with the lines, if a line has more characters than the terminal. A single word that is wider is allowed,
because words are never broken. --grows: also fails if no line on the widest terminal is wider than on the
narrowest."""
import os
import re
import sys

from terminal import run_on_terminal


def run(command, columns):
    """Returns the output of the command on a terminal of this width."""
    environment = {k: v for k, v in os.environ.items() if k != "COLUMNS"}
    out, child, errors = run_on_terminal(command, columns=columns, env=environment)
    if child.returncode != 0:
        sys.exit(f"{command} ended with {child.returncode}: {errors}")
    return re.sub(r"\x1b\[[0-9;]*m", "", out.decode()).replace("\r\n", "\n").split("\n")


def main():
    grows = sys.argv[1] == "--grows"
    del sys.argv[1:1 + grows]
    widths, command = [int(w) for w in sys.argv[1].split(",")], sys.argv[2:]
    printed = {w: run(command, w) for w in widths}
    wide = [(w, line) for w, lines in printed.items() for line in lines
            if len(line) > w and " " in line.strip()]
    for w, line in wide:
        print(f"{w} columns, {len(line)} characters: {line}")
    if grows and max(len(line) for line in printed[widths[-1]]) <= widths[0]:
        print(f"no line of {widths[-1]} columns is longer than {widths[0]}")
        return 1
    return 1 if wide else 0


if __name__ == "__main__":
    sys.exit(main())
