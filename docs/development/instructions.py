#!/usr/bin/env python3
"""Writes the list of instructions in docs/development/instructions.md from tuner/sim/instructions.def.

usage: docs/development/instructions.py [--check]

--check writes nothing. It exits with 1 if the list on the page differs from the table.
"""
import re
import sys
import textwrap
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent.parent
PAGE = SOURCE / "docs/development/instructions.md"
BEGIN, END = "<!-- list: docs/development/instructions.py -->\n", "<!-- end of list -->\n"


def paragraph(title, names):
    listed = ", ".join(f"`{n}`" for n in sorted(names))
    return textwrap.fill(f"{title}: {listed}.", 120, break_on_hyphens=False) + "\n"


def listed():
    table = (SOURCE / "tuner/sim/instructions.def").read_text().split("*/", 1)[1]
    families = set(re.findall(r'^FAMILY\("(\w+)"', table, re.M))
    names = " ".join(re.findall(r'^(?:OP\d|CALL3|HALF\d)\("([^"]+)"', table, re.M)).split()
    names += re.findall(r'^DIRECTED\(\d, "([^"]+)"', table, re.M)
    # These names are steps of the decoder, not PTX instructions.
    steps = {"pack", "field", "narrow", "extend", "space"}
    operations = {n.split(".")[0] for n in names} - steps
    return (paragraph("Operations on the values of a warp", operations) + "\n" +
            paragraph("Instructions with a decoder of their own", families - operations))


def main():
    page = PAGE.read_text()
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    wanted = before + BEGIN + "\n" + listed() + "\n" + END + after
    if "--check" in sys.argv[1:]:
        if page != wanted:
            sys.exit("docs/development/instructions.md: the list differs from tuner/sim/instructions.def. Run docs/development/instructions.py.")
    else:
        PAGE.write_text(wanted)


main()
