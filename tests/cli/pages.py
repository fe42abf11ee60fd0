#!/usr/bin/env python3
"""Checks the README and the pages of docs/: examples run, links lead to existing places, limits of length hold, and the
README's figures agree with the records.

Usage: pages.py BINARY [--write] [PAGE...]

Each page, except the pages with a test of their own (LISTS), begins with a block of commands, ```sh, which runs to
its end in an empty folder without a GPU. In the tutorial all such blocks run, and each prints the ```text block
after it, in which a line "..." stands for any lines. The figures are equal, too, if NVRTC is the version that the
tutorial names. --write renews the lines of the tutorial; the sentences about them are yours to read again.
"""
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", ".."))
LISTS = {"patterns", "spill_thresholds", "record_table", "predictions", "portfolio_parts", "records", "proof_runs",
         "kernel_file_trials", "size"}
README_LINES, README_WORDS, ROW_COLUMNS, GLOSSARY_WORDS, USER_WORDS = 150, 1600, 160, 12, 16000


def texts():
    out = {}
    for folder in (".", "docs", "docs/development", "results", "search"):
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


def too_long(pages):
    readme, users = pages["README.md"], {path: text for path, text in pages.items() if os.path.dirname(path) == "docs"}
    lines, words, all_words = readme.count("\n"), len(readme.split()), sum(len(text.split()) for text in users.values())
    wrong = [f"README.md has {lines} lines"] if lines > README_LINES else []
    wrong += [f"README.md has {words} words"] if words > README_WORDS else []
    wrong += [f"the pages of docs/ have {all_words} words"] if all_words > USER_WORDS else []
    return wrong + [f"{path}: a row of {len(line)} columns: {line[:60]}..." for path, text in {"README.md": readme, **users}.items()
                    for line in text.splitlines() if line.startswith("|") and len(line) > ROW_COLUMNS]


def example_of(text):
    """Returns the commands in the first code block of a page, if no second heading precedes the block."""
    block = re.search(r"```sh\n(.*?)```", text, re.S)
    return block.group(1) if block and "\n## " not in text[:block.start()] else None


def run_commands(binary, commands, folder):
    environment = dict(os.environ, PATH=os.path.dirname(binary) + ":" + os.environ["PATH"], AUTOTUNE_LIBCUDA="/nowhere/libcuda.so",
                       AUTOTUNE_RESULTS=os.path.join(ROOT, "results"), XDG_STATE_HOME=folder + "/.state",
                       PYTHONPATH=os.path.join(ROOT, "tuner", "python"))
    return subprocess.run(["sh", "-e", "-c", commands], cwd=folder, env=environment, capture_output=True, text=True)


def run_example(binary, page, text):
    commands = example_of(text)
    if commands is None:
        return f"{page} does not open with an example"
    with tempfile.TemporaryDirectory() as folder:
        done = run_commands(binary, commands, folder)
    if done.returncode:
        return f"{page}: its example ends with {done.returncode}: {done.stderr[-1500:]}{done.stdout[-500:]}"
    return None


def shape(line):
    """Returns a line in a form for comparison: with placeholders for numbers and units, and with single blanks."""
    line = re.sub(r"0x[0-9a-f]+|[+-]?\d[\d,.]*(e[+-]?\d+)?", "#", line)
    return " ".join(re.sub(r"# (ns|us|ms|s)\b|# (KiB|MiB|GiB|bytes)\b", "# unit", line).split())


def lines_of(text):
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def places(shown, printed):
    """Returns two values: for each line of `shown`, the line of `printed` with the same shape in its place; an error or None."""
    lines, at, skips, found = lines_of(printed), 0, False, []
    for line in lines_of(shown):
        if line.strip() == "...":
            skips = True
            found.append(line)
            continue
        while skips and at < len(lines) and shape(lines[at]) != shape(line):
            at += 1
        if at == len(lines) or shape(lines[at]) != shape(line):
            return found, f"{line.strip()!r} is shown, and printed is {lines[at] if at < len(lines) else 'nothing'!r}"
        found.append(lines[at])
        at, skips = at + 1, False
    return found, f"{lines[at]!r} is printed and not shown" if at < len(lines) and not skips else None


def differs(shown, printed, exactly):
    """Returns the first line of `shown` that differs from `printed`, or None. If `exactly`, numbers must agree, too."""
    found, wrong = places(shown, printed)
    for line, there in zip(lines_of(shown), found):
        if exactly and line != there:
            return f"{line.strip()!r} is shown, and printed is {there.strip()!r}: 'pages.py BINARY --write' renews the page"
    return wrong


def renewed(shown, printed):
    """Returns `shown` with its lines replaced by the printed lines."""
    found = iter(places(shown, printed)[0])
    return "".join((next(found, line) if line.strip() else line) + "\n" for line in shown.splitlines())


def compiles_as_on(binary, page):
    """Returns whether NVRTC has the version that the page names for its figures."""
    version = re.search(r"those of NVRTC (\d+\.\d+)", page)
    ptx = subprocess.run([binary, "emit", "transpose", "--arch", "sm_90", "--ptx"], capture_output=True, text=True, check=True)
    return f"release {version.group(1)}," in ptx.stdout


def run_tutorial(binary, page, text, writes=False):
    blocks = list(re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.S | re.M))
    exactly, new, wrong = compiles_as_on(binary, text), text, None
    with tempfile.TemporaryDirectory() as folder:
        for block, after in zip(blocks, blocks[1:] + [None]):
            commands = block.group(2)
            if block.group(1) != "sh":
                continue
            done = run_commands(binary, commands, folder)
            if done.returncode:
                return f"{page}: {commands[:60]!r} ends with {done.returncode}: {done.stderr[-1500:]}{done.stdout[-500:]}"
            if not after or after.group(1) != "text":
                continue
            shown = after.group(2)
            if writes:
                new = new.replace(shown, renewed(shown, done.stdout))
                shown = renewed(shown, done.stdout)
            found = differs(shown, done.stdout, exactly)
            wrong = wrong or found and f"{page}: of {commands[:60]!r} {found}"
    if writes and new != text:
        open(os.path.join(ROOT, page), "w").write(new)
    return wrong


def long_meanings(glossary):
    rows = re.findall(r"^\| (.+?) \| (.+) \|$", glossary, re.M)
    return [f"docs/glossary.md: '{word}' takes {len(meaning.split())} words" for word, meaning in rows if len(meaning.split()) > GLOSSARY_WORDS]


def untrue_lines(binary, readme):
    """Returns lines that the README shows for `results show` but the command does not print, and the README's counts of
    the space that `space` does not print."""
    shown = re.search(r"^    \$ autotune (results show .*)\n((?:    .+\n)+)", readme, re.M)
    ask = lambda words: subprocess.run([binary, *words.split()], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    printed = ask(shown.group(1)).splitlines()
    wrong = [f"README.md: 'autotune {shown.group(1)}' does not print: {line.strip()}" for line in shown.group(2).splitlines()
             if line[4:] not in printed]
    pattern = shown.group(1).split()[2]
    counts = re.search(r"([\d,]+) points in the product, ([\d,]+) valid", ask(f"space {pattern} --arch sm_90")).groups()
    return wrong + [f"README.md: 'autotune space {pattern}' says {n}" for n in counts if n not in readme]


def main():
    binary, asked = os.path.realpath(sys.argv[1]), [a for a in sys.argv[2:] if a != "--write"]
    writes = "--write" in sys.argv
    if writes:
        sys.exit(run_tutorial(binary, "docs/tutorial.md", texts()["docs/tutorial.md"], True))
    pages = texts()
    wrong = [] if asked else broken_links(pages) + too_long(pages) + untrue_lines(binary, pages["README.md"])
    wrong += [] if asked else long_meanings(pages["docs/glossary.md"])
    quoted = subprocess.run([os.path.join(ROOT, "tests/bench/benchmarks.py"), "quoted"], capture_output=True, text=True)
    wrong += [quoted.stderr] if quoted.returncode and not asked else []
    for path, text in pages.items():
        page = os.path.basename(path)[:-3]
        if path.startswith("docs/") and page not in LISTS and (not asked or page in asked):
            found = (run_tutorial if page == "tutorial" else run_example)(binary, path, text)
            print(f"{'FAIL' if found else 'ok  '} {page}", flush=True)
            wrong += [found] if found else []
    if wrong:
        sys.exit("\n".join(wrong))


main()
