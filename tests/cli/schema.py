#!/usr/bin/env python3
"""Checks records against their JSON Schema with a validator that is not autotune's.

usage: schema.py SCHEMA AUTOTUNE FOLDER...

Every record below the folders is valid. 400 records are changed at random. If the schema allows a record, autotune's
reader must accept it. If the schema refuses a member that the reader reads, the reader must name its entry. Exit
code 77: there is no validator.
"""
import copy
import glob
import json
import os
import random
import re
import subprocess
import sys
import tempfile

try:
    import jsonschema
    Validator = jsonschema.Draft202012Validator
except (ImportError, AttributeError) as missing:
    print(f"skipped: {missing} (sudo apt-get install python3-jsonschema, 4.0 or newer)")
    sys.exit(77)

READERS = "correct the file or move it away"
# Pointers of members for which the reader makes the same checks as the schema.
READ = re.compile(r"/(pattern|gpu|compute_capability|entries)$|/entries/\d+(/contenders/\d+|/baseline)?/time/(low|median|high)_ns$"
                  r"|/entries/\d+/(problem|configuration|gbps|gflops|speedup|ceiling_fraction|contenders)$")

STRANGE = [None, True, -1, 0, 1.5, 3.0, "", "x" * 300, "a\tb", [], {}, [1], {"a": 1}, {"9": 1}, "cold", 10**12,
           {"order": [0]}, {"problem": {}, "configuration": {}, "time": {"median_ns": 1}}]
PORTFOLIO = {"fixed": {"dtype": "float"}, "configurations": [{"a": 1}, {"a": 2}],
             "tree": [{"variable": "n", "below": 3, "then": 1, "else": 2}, {"order": [0, 1]}, {"order": [1, 0]}],
             "problems": [{"problem": {"n": 1}, "baseline_ns": 4, "times_ns": [3, None]}],
             "regret": {"held_out": 2, "mean": 0.01, "worst": 0.02}, "date": "2026-01-31T12:00:00Z"}


def places(value, found):
    """Returns every object and list in `value`."""
    if isinstance(value, (dict, list)):
        found.append(value)
        for below in value.values() if isinstance(value, dict) else value:
            places(below, found)
    return found


def change(record, random_):
    """Replaces, removes or adds one member at a random place."""
    of = random_.choice([c for c in places(record, []) if c])
    key = random_.choice(list(of)) if isinstance(of, dict) else random_.randrange(len(of))
    kind = random_.randrange(4)
    if kind == 0:
        del of[key]
    elif kind == 1 and isinstance(of, dict):
        of[random_.choice(["other", "9x", "a b", "n"])] = random_.choice(STRANGE)
    else:
        of[key] = copy.deepcopy(random_.choice(STRANGE))


def shorten(portfolio):
    """Keeps three members of each list of a portfolio. Otherwise almost all random changes would hit its thousands of
    times."""
    for name in ("problems", "tree", "configurations"):
        portfolio[name] = portfolio[name][:3]
    for problem in portfolio["problems"]:
        problem["times_ns"] = problem["times_ns"][:3]


def pointer(error):
    return "".join("/" + str(p).replace("~", "~0").replace("/", "~1") for p in error.absolute_path)


def main():
    schema, autotune, *folders = sys.argv[1:]
    schema = json.load(open(schema))
    Validator.check_schema(schema)
    validator = Validator(schema)
    files = [f for folder in folders for f in glob.glob(os.path.join(folder, "*", "*.json"))
             if os.path.basename(f) != "device.json"]
    assert files, "no records"
    records = [json.load(open(f)) for f in files]
    wrong = [f"{f}: {pointer(e)}: {e.message}" for f, r in zip(files, records) for e in validator.iter_errors(r)]
    assert not wrong, "\n".join(wrong)
    random_ = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        changed = {}
        for i in range(400):
            record = copy.deepcopy(random_.choice(records))
            record["entries"] = record["entries"][:2]
            for portfolio in record.get("portfolios", []):
                shorten(portfolio)
            if random_.randrange(3) == 0:
                record["portfolios"] = [copy.deepcopy(PORTFOLIO)]
            for _ in range(random_.randrange(1, 4)):
                change(record, random_)
            path = os.path.join(folder, f"{i}.json")
            json.dump(record, open(path, "w"))
            changed[path] = record
        said = {path: [] for path in changed}
        paths = list(changed)
        for at in range(0, len(paths), 50):
            run = subprocess.run([autotune, "results", "validate", "--json", *paths[at:at + 50]], capture_output=True,
                                 text=True)
            assert run.returncode in (0, 4), f"exit {run.returncode}: {run.stderr}"
            for problem in json.loads(run.stdout)["problems"]:
                said[problem["file"]].append(problem)
        valid = seen = 0
        for path, record in changed.items():
            expected = {pointer(e) for e in validator.iter_errors(record)}
            if isinstance(record.get("version"), int) and record["version"] > 1:
                continue  # the reader does not check records of a newer version
            refused = [p for p in said[path] if READERS in p["message"] and not p["pointer"].startswith("/portfolios")]
            assert expected or not refused, f"{refused}: {json.dumps(record)[:3000]}"
            read = {e for e in expected if READ.match(e)}
            missed = {e for e in read if not any(e.startswith(p["pointer"]) for p in said[path])}
            assert not missed, f"{sorted(missed)} not in {said[path]}: {json.dumps(record)[:3000]}"
            valid += not expected
            seen += bool(read)
    assert seen > 30, seen
    print(f"{len(files)} records are valid; of 400 that were changed {valid} are, and the reader refuses none of these")


main()
