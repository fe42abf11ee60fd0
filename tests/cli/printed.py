#!/usr/bin/env python3
"""Checks that each command prints one JSON object with --json, and that the object conforms to schemas/commands.json
and to the command's own schema, with a validator that is not autotune's. Every command with the option is tested, so
a new command needs a case here.

usage: printed.py SCHEMAS AUTOTUNE TESTS FAKE_CUDA FAKE_CUPTI CAPTURED_PROGRAM

Runs on the simulated device and on fake drivers. Exit code 77: there is no validator.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import warnings

try:
    import jsonschema
    Validator = jsonschema.Draft202012Validator
except (ImportError, AttributeError) as missing:
    print(f"skipped: {missing} (sudo apt-get install python3-jsonschema, 4.0 or newer)")
    sys.exit(77)

SIM, GPU, ARCH = ["--device", "sim:sm_90"], ["--device", "cuda:0"], ["--arch", "sm_90"]
QUIET = ["--quiet"]
# Folders of records whose names are not UTF-8: for the shipped records and for new records.
ODD, NEW = os.fsdecode(b"records-\xff"), os.fsdecode(b"new-\xe9")
# Commands with their exit codes. They run in this order, in a folder that has fixtures/, faults/ and records/.
RUNS = [
    ("tune", 0, ["fixtures/mixed_outcomes.lua", "--only", "fault=none,syntax,wrong,out_of_bounds", *SIM, *QUIET]),
    ("tune", 0, ["fixtures/twins.lua", "--only", "note=3", *SIM, *QUIET, "--budget", "6"]),
    ("tune", 0, ["fixtures/scale.lua", *ARCH, *QUIET, "--budget", "3"]),
    ("tune", 0, ["faults/timed.lua", *GPU, *QUIET, "--budget", "30", "--energy"]),
    ("tune", 0, ["fixtures/moved.lua", *GPU, *QUIET, "--budget", "3", "--no-record"]),
    ("check", 1, ["fixtures/mixed_outcomes.lua", "--only", "fault=none,syntax,wrong", *SIM, "--set", "n=16384", "--budget", "99"]),
    ("check", 0, ["fixtures/unreferenced.lua", *SIM]),
    ("check", 0, ["fixtures/unjudged.cu", *SIM]),
    ("capture", 0, ["--output", "captured", "--kernel", "scale", "--shapes", "2", "--time", "./captured_program",
                    "fixtures/captured.ptx", "scale", "64", "view", "70", "graph", "64", "leave"]),
    ("check", 0, ["--captured", "captured:2"]),
    ("capture", 0, ["--output", "shapes", "--kernel", "scale_by", "--shapes", "2", "./captured_program",
                    "fixtures/captured.ptx", "scale", "64", "scale", "3000"]),
    ("mix", 0, ["fixtures/captured.cu", "--captured", "shapes", *SIM, *QUIET, "--only", "ITEMS=1"]),
    ("explain", 0, ["fixtures/separable.lua", *SIM]),
    ("explain", 0, ["transpose.lua", *SIM]),
    ("profile", 0, ["faults/timed.lua", *GPU, "--config", "a=10,b=6"]),
    ("inspect", 0, ["fixtures/scale.lua", *ARCH, "--over", "block=32,1024", "--over", "vec=1,4"]),
    ("inspect", 0, ["fixtures/mixed_outcomes.lua", *ARCH, "--over", "fault"]),
    ("spills", 0, ["spill.lua", *ARCH, "--config", "live=32", "--over", "registers=24,32,63", "--over", "vec=1,4"]),
    ("spills", 0, ["spill.lua", *SIM, "--config", "live=32", "--over", "registers=32,40", "--shared-spills"]),
    ("importance", 0, ["records/nvidia-h200/landscapes/dot.json.gz"]),
    ("compare", 0, ["records/nvidia-h200/transpose.json", "records/nvidia-h100-80gb-hbm3/transpose.json"]),
    ("compare", 0, ["records/nvidia-h200/landscapes/dot.json.gz", "records/nvidia-h200/landscapes/dot.json.gz"]),
    ("verify", 0, ["faults/timed.lua", *GPU, *QUIET]),
    ("results list", 0, ["--results", "records"]),
    ("results show", 0, ["dot", "--results", "records"]),
    ("results diff", 0, ["records/nvidia-h200", "records/nvidia-h100-80gb-hbm3"]),
    ("results merge", 0, ["records", "--dry-run"]),
    ("results validate", 0, ["records"]),
    ("results prune", 0, ["--older-than", "2100-01-01", "--dry-run"]),
    ("ceilings", 0, ["launches", *GPU, *QUIET]),
    ("space", 0, ["transpose.lua", *ARCH]),
    ("space", 0, ["wide.lua", *ARCH]),
    ("pick", 0, ["transpose", "--results", "records", "--gpu", "nvidia-h200", "--set", "rows=8190", "--set", "cols=8190"]),
    ("replay", 0, ["records/nvidia-h200/landscapes/dot.json.gz", "--repeat", "2", "--strategy", "random"]),
    ("devices", 0, []),
    ("lint", 0, ["fixtures/scale.lua", *ARCH]),
    ("lint", 0, ["latin.lua", *ARCH, "--set", "n=1000"]),
    ("version", 0, []),
    ("sweep", 0, ["fixtures/scale.lua", "--over", "n=1000,1024", *SIM, *QUIET, "--budget", "1"]),
    ("sweep", 0, ["strided", "--over", "stride=1,2,64", "--recorded", "--results", "records"]),
    ("sweep", 1, ["strided", "--over", "stride=77", "--recorded", "--results", "records"]),
    ("portfolio", 0, ["faults/ranged.lua", "--over", "rows=16..64", "--over", "cols=16..64", "--problems", "2",
                      "--held-out", "1", "--finals", "6", *GPU, *QUIET]),
    ("results list", 0, ["--results", ODD]),
    ("results show", 0, ["dot", "--results", ODD]),
    ("results validate", 4, [ODD + "/broken"]),
    ("replay", 0, [ODD + "/nvidia-h200/landscapes/dot.json.gz", "--repeat", "2", "--strategy", "random"]),
    ("tune", 0, ["faults/timed.lua", *GPU, *QUIET, "--budget", "3", "--results", NEW]),
    ("verify", 0, ["faults/timed.lua", *GPU, *QUIET, "--results", NEW]),
    ("sweep", 0, ["faults/timed.lua", "--over", "n=4096,8192", *GPU, *QUIET, "--budget", "2", "--results", NEW]),
    ("ceilings", 0, ["launches", *GPU, *QUIET, "--results", NEW]),
    ("portfolio", 0, ["faults/ranged.lua", "--over", "rows=16..64", "--over", "cols=16..64", "--problems", "2",
                      "--held-out", "1", "--finals", "6", *GPU, *QUIET, "--results", NEW]),
    ("inspect", 1, ["latin.lua", *ARCH]),
]


def paths(value):
    """Yields the paths that a document gives as bytes."""
    if isinstance(value, dict) and set(value) == {"bytes"}:
        yield bytes.fromhex(value["bytes"])
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from paths(item)


def commands(autotune):
    """Returns the commands with --json, including the subcommands of 'results'."""
    def help_of(*words):
        return subprocess.run([autotune, *words, "--help"], check=True, capture_output=True, text=True,
                              env=dict(os.environ, COLUMNS="200")).stdout
    found = {"version"}  # --version is an option, but accepts --json as commands do
    for name, operand in re.findall(r"^  (\w+) +(\S*)", help_of().split("Commands")[1].split("Exit codes")[0], re.M):
        if re.search(r"^  --json ", help_of(name), re.M):
            found |= {f"{name} {verb}" for verb in operand.split("|")} if "|" in operand else {name}
    return found


def main():
    schemas, autotune, tests, fake_cuda, fake_cupti, captured_program = map(os.path.abspath, sys.argv[1:])
    files = {f: json.load(open(os.path.join(schemas, f))) for f in os.listdir(schemas) if f.endswith(".json")}
    described = files["commands.json"]
    for schema in files.values():
        Validator.check_schema(schema)

    def errors_of(value, schema):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            resolver = jsonschema.RefResolver("commands.json", described, store=files)
            return list(Validator(schema, resolver=resolver).iter_errors(value))

    def holds(value, schema, what):
        errors = errors_of(value, schema)
        assert not errors, f"{what}: " + "\n".join(f"{list(e.absolute_path)}: {e.message}" for e in errors[:5])

    asked = commands(autotune)
    assert len(asked) > 20, f"only {asked} have --json"
    # A command's own schema must be complete, because validators read no other files for references.
    own = {f[:-5].replace("results_", "results "): json.load(open(os.path.join(schemas, "commands", f)))
           for f in os.listdir(os.path.join(schemas, "commands"))}
    assert asked == set(own), f"no schema, or of no command: {asked ^ set(own)}"
    for name, schema in own.items():
        Validator.check_schema(schema)
        assert "json#" not in json.dumps(schema), f"{name}'s schema refers to another file"
        assert not Validator(schema).is_valid({"nonsense": 1}), f"{name}'s schema accepts anything"
    nonsense = [e for e in errors_of({"nonsense": 1}, described)]
    assert nonsense, "commands.json accepts anything"
    asked -= {"calibrate"}  # calibrate prints the output of `ceilings`, but needs more memory than the fake driver has
    assert asked == {name for name, _, _ in RUNS}, f"not tried, or not there: {asked ^ {name for name, _, _ in RUNS}}"
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(os.path.join(tests, "faults"), os.path.join(folder, "faults"))
        os.symlink(os.path.join(tests, "fixtures"), os.path.join(folder, "fixtures"))
        os.symlink(captured_program, os.path.join(folder, "captured_program"))
        os.symlink(os.path.join(tests, "..", "results"), os.path.join(folder, "records"))
        for name in "scale.cu.tmpl", "scale_ref.cu.tmpl":
            shutil.copy(os.path.join(tests, "fixtures", name), folder)
        shutil.copytree(os.path.join(tests, "..", "results"), os.path.join(folder, ODD))
        os.makedirs(os.path.join(folder, ODD, "broken"))
        with open(os.path.join(folder, ODD, "broken", "dot.json"), "w") as broken:
            broken.write("{")
        # The compiler's message quotes this line, which is not UTF-8.
        for name, more in ("scale.cu.tmpl", "int caf\xe9;\n"), ("scale.lua", ""):
            text = open(os.path.join(tests, "fixtures", name), encoding="latin-1").read()
            text = (more + text).replace("scale.cu.tmpl", "latin.cu.tmpl")
            with open(os.path.join(folder, name.replace("scale", "latin")), "w", encoding="latin-1") as latin:
                latin.write(text)
        # The number of configurations of this script does not fit into 63 bits.
        with open(os.path.join(folder, "wide.lua"), "w") as wide:
            wide.write('local at = require "autotune"\nlocal space = {}\n'
                       'for i = 1, 12 do space[i] = { "p" .. i, at.range(1, 64) } end\n'
                       'return at.pattern { name = "wide", problem = { n = 1 }, space = space, where = { "p1 <= p2" },\n'
                       '  kernel = { template = "scale.cu.tmpl" }, launch = { grid = 1, block = 32 }, traffic = 1 }\n')
        environment = dict(os.environ, AUTOTUNE_LIBCUDA=fake_cuda, AUTOTUNE_LIBCUPTI=fake_cupti,
                           XDG_STATE_HOME=os.path.join(folder, "state"), ASAN_OPTIONS="verify_asan_link_order=0")
        for name, code, words in RUNS:
            verb = ["--version"] if name == "version" else name.split()
            said = subprocess.run([autotune, *verb, "--json", *words], cwd=folder, env=environment,
                                  capture_output=True, text=True)
            what = f"autotune {name} {' '.join(words)}"
            assert said.returncode == code, f"{what}: exit code {said.returncode}: {said.stderr[-2000:]}"
            value = json.loads(said.stdout)
            holds(value, {"$ref": "commands.json#/$defs/" + name.replace(" ", "_")}, what)
            wrong = list(Validator(own[name]).iter_errors(value))
            assert not wrong, f"{what}: not what {name}'s own schema says: {wrong[0].message}"
            odd = list(paths(value))
            assert bool(odd) == any("\udcff" in w or "\udce9" in w for w in words), f"{what!r}: {odd}"
            for path in odd:
                assert os.path.exists(os.path.join(os.fsencode(folder), path)), f"{what!r}: there is no {path}"
        devices = [os.path.join(at, f) for at, _, names in os.walk(os.path.join(folder, "results")) for f in names
                   if f == "device.json"]
        assert devices, "no ceiling was recorded"
        for path in devices:
            holds(json.load(open(path)), {"$ref": "device.json"}, path)
    print(f"{len(asked)} commands print what their schemas say, in {len(RUNS)} runs")


main()
