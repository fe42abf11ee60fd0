#!/usr/bin/env python3
"""Checks that docs/development/record_table.md describes the table that export templates receive.

usage: record_table.py PAGE AUTOTUNE RESULTS FIXTURES

The page's tables have exactly the members of the table, and the page's example prints the output that the page
shows.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

# For each table of the page, by its heading or the name of its first column: the objects that it describes.
PLACES = {
    "The whole": lambda whole: [whole],
    "A pattern": lambda whole: whole["patterns"],
    "a column": lambda whole: [c for p in whole["patterns"] for c in p["variables"] + p["parameters"]],
    "a row": lambda whole: [r for p in whole["patterns"] for r in p["rows"]],
    "A record": lambda whole: [r for p in whole["patterns"] for r in p["records"]],
    "an entry": lambda whole: [e for p in whole["patterns"] for r in p["records"] for e in r["entries"]],
    "a portfolio": lambda whole: portfolios(whole),
    "a node": lambda whole: [n for p in portfolios(whole) for n in p["tree"]],
    "a launch": lambda whole: [p["launch"] for p in whole["patterns"] if p["launch"]],
    "a kernel": lambda whole: [k for p in whole["patterns"] for k in p["kernels"]],
    "a use": lambda whole: [u for p in whole["patterns"] for u in p["uses"]],
}

# Members that a single line of the page lists, and the objects that have these members.
LISTS = {
    "device_fields": lambda whole: whole["device_fields"],
    "element_types": lambda whole: whole["element_types"],
    "words": lambda whole: [w for p in whole["patterns"] for c in p["variables"] + p["parameters"] for w in c["words"]],
    "constraints": lambda whole: [c for p in whole["patterns"] for c in p["constraints"]],
    "derived": lambda whole: [d for p in whole["patterns"] for d in p["derived"]],
    "seen": lambda whole: [s for p in whole["patterns"] for s in p["seen"]],
    "baseline": lambda whole: [e["baseline"] for p in whole["patterns"] for r in p["records"] for e in r["entries"]
                               if e["baseline"]],
    "buffers": lambda whole: [b for p in whole["patterns"] if p["launch"] for b in p["launch"]["buffers"]],
    "headers": lambda whole: [h for p in whole["patterns"] for k in p["kernels"] for h in k["headers"]],
    "conditions": lambda whole: [c for p in whole["patterns"] for u in p["uses"] for c in u["conditions"]],
}


def portfolios(whole):
    return [q for p in whole["patterns"] for r in p["records"] for q in r["portfolios"]]


def page_tables(text):
    """Returns, for each heading, the members in its table, and the text of each member's line."""
    tables, lines, heading = {}, {}, None
    for line in text.splitlines():
        if line.startswith("## "):
            heading = line[3:]
        row = re.match(r"\| (.*?) \| (.*) \|$", line)
        if not row:
            continue
        head = re.match(r"member(?: of (.*))?$", row[1])
        if head:
            place = head[1] or heading
            tables[place] = []
        elif re.match(r"`\w+`$", row[1]):
            tables[place].append(row[1].strip("`"))
            lines[place, row[1].strip("`")] = row[2]
    return tables, lines


def export(tool, arguments, template, folder):
    path = os.path.join(folder, "t.tmpl")
    with open(path, "w") as out:
        out.write(template)
    return subprocess.run([tool, "export", *arguments, "--template", path], check=True, capture_output=True, text=True).stdout


def main():
    page, tool, results, fixtures = sys.argv[1:]
    text = open(page).read()
    tables, lines = page_tables(text)
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        wholes = [json.loads(export(tool, a, "${json(_ENV)}\n", folder)) for a in (
            ["transpose", "dot", "matmul", "--results", results],
            [os.path.join(fixtures, "scale.lua"), "--results", results, "--format", "cuda"])]
        example = re.search(r"\n\n((?:    .*\n)+)\n((?:    .*\n)+)", text)
        template, written = (re.sub("(?m)^    ", "", part) for part in example.groups())
        given = export(tool, ["copied", "--results", os.path.join(fixtures, "results")], template, folder)
        if written != given:
            wrong.append(f"the example does not write {written!r}, but:\n{given}")
    for place, find in PLACES.items():
        found = {name for whole in wholes for table in find(whole) for name in table}
        named = tables.pop(place, [])
        if not found:
            wrong.append(f"{place}: no such table was met: the test says nothing of it")
        wrong += [f"{place}: the page does not tell of '{name}'" for name in sorted(found - set(named))]
        wrong += [f"{place}: there is no '{name}'" for name in sorted(set(named) - found)]
    wrong += [f"the page has a table of {place}, which the test does not know" for place in tables if place]
    for name, find in LISTS.items():
        found = {member for whole in wholes for table in find(whole) for member in table}
        said = " ".join(line for (_, member), line in lines.items() if member == name)
        wrong += [f"{name}: the page does not tell of its '{member}'" for member in sorted(found)
                  if f"`{member}`" not in said]
    for line in wrong:
        print(line)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
