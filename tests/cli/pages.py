#!/usr/bin/env python3
"""The README and the pages of docs/: examples run, links lead somewhere, what is to be short is short, and the
README's figures are what the records print.

Usage: pages.py BINARY [PAGE...]

Each page but those of which another test is (LISTS) opens with a block of commands, ```sh, which runs to its end in an empty folder
without a GPU.
"""
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", ".."))
LISTS = {"patterns", "spill_thresholds", "record_table"}
README_LINES, README_WORDS, ROW_COLUMNS, GLOSSARY_WORDS = 200, 1600, 160, 12


def texts():
    out = {}
    for folder in (".", "docs", "results", "search"):
        for name in sorted(os.listdir(os.path.join(ROOT, folder))):
            if name.endswith(".md"):
                path = os.path.normpath(os.path.join(folder, name))
                out[path] = open(os.path.join(ROOT, path)).read()
    return out


def anchors(text):
    found = set()
    for heading in re.findall(r"^#+ (.*)$", text, re.M):
        found.add(re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-"))
    return found


def broken_links(pages):
    wrong = []
    for path, text in pages.items():
        plain = re.sub(r"```.*?```", "", text, flags=re.S)
        for target in re.findall(r"\]\(([^)\s]+)\)", plain):
            if re.match(r"[a-z]+:", target):
                continue
            file, _, anchor = target.partition("#")
            to = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
            if not os.path.exists(os.path.join(ROOT, to)):
                wrong.append(f"{path}: {target} does not exist")
            elif anchor and to.endswith(".md") and anchor not in anchors(open(os.path.join(ROOT, to)).read()):
                wrong.append(f"{path}: {target}: there is no such heading")
    return wrong


def too_long(readme):
    lines, words = readme.count("\n"), len(readme.split())
    wrong = [f"README.md has {lines} lines"] if lines > README_LINES else []
    wrong += [f"README.md has {words} words"] if words > README_WORDS else []
    return wrong + [f"README.md: a row of {len(line)} columns: {line[:60]}..." for line in readme.splitlines()
                    if line.startswith("|") and len(line) > ROW_COLUMNS]


def example_of(text):
    """The commands that a page opens with: before any heading but the first."""
    block = re.search(r"```sh\n(.*?)```", text, re.S)
    return block.group(1) if block and "\n## " not in text[:block.start()] else None


def run_example(binary, page, text):
    commands = example_of(text)
    if commands is None:
        return f"docs/{page}.md does not open with an example"
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, PATH=os.path.dirname(binary) + ":" + os.environ["PATH"], AUTOTUNE_LIBCUDA="/nowhere/libcuda.so",
                           AUTOTUNE_RESULTS=os.path.join(ROOT, "results"), XDG_STATE_HOME=folder + "/.state",
                           PYTHONPATH=os.path.join(ROOT, "tuner", "python"))
        done = subprocess.run(["sh", "-e", "-c", commands], cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        return f"docs/{page}.md: its example ends with {done.returncode}: {done.stderr[-1500:]}{done.stdout[-500:]}"
    return None


def long_words(glossary):
    rows = re.findall(r"^\| (.+?) \| (.+) \|$", glossary, re.M)
    return [f"docs/glossary.md: '{word}' takes {len(meaning.split())} words" for word, meaning in rows if len(meaning.split()) > GLOSSARY_WORDS]


def untrue_lines(binary, readme):
    """What the README shows of `results show` that this does not print, and counts of the space that `space` does not."""
    shown = re.search(r"^    \$ autotune (results show .*)\n((?:    .+\n)+)", readme, re.M)
    ask = lambda words: subprocess.run([binary, *words.split()], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    printed = ask(shown.group(1)).splitlines()
    wrong = [f"README.md: 'autotune {shown.group(1)}' does not print: {line.strip()}" for line in shown.group(2).splitlines()
             if line[4:] not in printed]
    pattern = shown.group(1).split()[2]
    counts = re.search(r"([\d,]+) points in the product, ([\d,]+) valid", ask(f"space {pattern} --arch sm_90")).groups()
    return wrong + [f"README.md: 'autotune space {pattern}' says {n}" for n in counts if n not in readme]


def main():
    binary, asked = os.path.realpath(sys.argv[1]), sys.argv[2:]
    pages = texts()
    wrong = [] if asked else broken_links(pages) + too_long(pages["README.md"]) + untrue_lines(binary, pages["README.md"])
    wrong += [] if asked else long_words(pages["docs/glossary.md"])
    for path, text in pages.items():
        page = os.path.basename(path)[:-3]
        if os.path.dirname(path) == "docs" and page not in LISTS and (not asked or page in asked):
            found = run_example(binary, page, text)
            print(f"{'FAIL' if found else 'ok  '} {page}", flush=True)
            wrong += [found] if found else []
    if wrong:
        sys.exit("\n".join(wrong))


main()
