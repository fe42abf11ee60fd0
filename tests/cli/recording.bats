load helpers

RECORDS="$BATS_TEST_DIRNAME/../../results"

# one EDIT: writes ./results with the H200's record of two square transposes. The Python statement EDIT changes the
# record `r` and its first entry `e`.
one() {
    mkdir -p results/nvidia-h200
    python3 - "$RECORDS/nvidia-h200/transpose.json" "${1:-}" >results/nvidia-h200/transpose.json <<'PY'
import json, sys
r = json.load(open(sys.argv[1]))
r["entries"] = [x for x in r["entries"] if x["problem"]["rows"] == x["problem"]["cols"]]
e = r["entries"][0]
exec(sys.argv[2])
json.dump(r, sys.stdout, indent=2)
PY
}

@test "records are listed by GPU and pattern, within 80 columns, with the searched folders" {
    tool results list --results "$RECORDS"
    succeeds
    says 'NVIDIA H200 (9.0)'
    says 'all problems: dtype=float'
    says 'reaches: the share of the rate at which this GPU copies'
    says 'rows=8192,cols=8192 '
    [ "$(grep -v '^[a-z0-9_]*: \|^Searched' out.txt | awk '{ if (length > 80) n++ } END { print n + 0 }')" -eq 0 ]
    # On a narrow page, too, the variables in which problems differ are shown, so no two rows are equal.
    COLUMNS=60 tool results list aos_soa --gpu nvidia-h200 --results "$RECORDS"
    says 'operation=convert'
    python3 - <<'PY'
import re
text = open("out.txt").read().split("problem\n")[1].split("\n\n")[0]
rows = re.split(r"\n(?= {1,4}\d)", text)
problems = [re.sub(r"^.*\d{4}-\d\d-\d\d", "", row).split() for row in rows]
assert len(rows) > 10 and len({"".join(p) for p in problems}) == len(rows), rows
PY
    one
    AUTOTUNE_RESULTS=mine tool results list
    succeeds
    says 'Searched: mine, results'
    tool results list --results results --gpu nvidia-h200 --set rows=16384 --json
    succeeds
    [ "$(python3 -c 'import json; print(len(json.load(open("out.txt"))["entries"]))')" -eq 1 ]
}

@test "an entry is described in words: configuration, speed, proof, and conditions of the measurement" {
    one 'e["contenders"] = [{"configuration": e["baseline"]["configuration"], "time": e["time"]}]'
    tool results show transpose --set rows=8192
    succeeds
    for words in 'transpose on NVIDIA H200' 'rows=8192, cols=8192' 'us a launch' 'ceiling (copy)' 'simulated GPU' \
        'registers' 'KiB of shared memory' 'MiB that must move' 'came next' 'driver 580' 'NVRTC 13' '/entries/0'; do
        says "$words"
    done
    says_nothing_of 'rows=16384'
    tool results show transpose --gpu h200
    succeeds
    says 'transpose on NVIDIA H200'
    # The report of a removed entry must have the entry's whole problem.
    tool results prune transpose --gpu h200 --older-than 2100-01-01 --dry-run --json
    [ "$(jq '.changes | length' out.txt)" -eq 0 ]
    tool results prune transpose --gpu nvidia-h200 --older-than 2100-01-01 --dry-run --json
    [ "$(jq '.changes | length' out.txt)" -gt 0 ]
    for command in list "show transpose"; do
        tool results $command --set rowz=8192
        fails_with 2 "--set rowz: no problem in the records has this variable; did you mean 'rows'?"
    done
    tool results list --set rows=1
    succeeds
    says "Nothing is recorded of what was asked for"
    says_nothing_of "H200 (9.0)"
    tool results show transpos
    fails_with 2 "lists all; did you mean 'transpose'?"
}

@test "an entry shows the coverage of its proof: blocks of its problem, and lines that never ran" {
    one 'e["proof"] = {"proven": True, "covered": {"problems": "the small problem rows=512", "tuned": {"blocks": 65536,
        "run": 32, "cut": 1, "blind": 0, "compared": 770}, "skipped": None, "never_ran": "t.tmpl:7", "ran_once": None}}'
    tool results show transpose --set rows=8192
    succeeds
    says 'on the small problem rows=512'
    says "32 of the tuned problem's 65,536 blocks were run; 1 of them were left where they wait for others; 770 elements of these equal the reference's"
    says 'never executed, as compiled: t.tmpl:7'
    tool results validate
    says_nothing_of 'proof'
}

@test "every shipped record is valid" {
    tool results validate "$RECORDS"
    succeeds
    says 'faults: 0'
}

@test "faults are reported with file, line, pointer and remedy, and exit code 4" {
    one 'e["time"]["median_ns"] = "fast"; r["entries"].append(dict(r["entries"][1])); r["entries"][1]["gbps"] = 9.0'
    tool results validate
    [ "$status" -eq 4 ]
    says "results/nvidia-h200/transpose.json:"
    says '/entries/0: entry 1: median_ns must be a whole number of nanoseconds above 0, under "time"; correct the file'
    says '/entries/2: this entry has the same problem as /entries/1, which is used: remove the'
    says '/entries/1/gbps: the value is 9, but traffic_bytes over the median give'
    tool results validate --json
    [ "$status" -eq 4 ]
    says '"pointer": "/entries/2"'
}

@test "contradictory figures, foreign parameters and names, and truncated or newer files are found" {
    one 'e["time"]["low_ns"] = e["time"]["high_ns"] + 1; e["baseline"]["configuration"]["other"] = 1; r["gpu"] = "NVIDIA H100"'
    tool results validate
    [ "$status" -eq 4 ]
    says 'low_ns must not be above median_ns'
    says "the parameter 'other' is not in the winner's configuration"
    says "/gpu: records of the GPU 'NVIDIA H100' belong into the folder nvidia-h100, not"
    printf '{\n "schema": oops\n}' >results/nvidia-h200/torn.json
    echo '{"schema": "autotune-record", "version": 2}' >results/nvidia-h200/newer.json
    tool results validate
    says 'torn.json:2: '
    says 'newer.json:1: the file: a record of version 2, which a newer autotune wrote'
}

@test "the recorded speed-up may differ from that of the medians within the intervals" {
    one 'e["speedup"] *= 1.1'
    tool results validate
    [ "$status" -eq 4 ]
    says '/entries/0/speedup: the value is '
    one 'e["speedup"] *= 1.1; t = e["baseline"]["time"]; t["high_ns"] = int(t["median_ns"] * 1.12)'
    tool results validate
    succeeds
}

@test "two folders are compared: entries added, removed, changed, faster or slower" {
    one
    mkdir later && cp -r results/nvidia-h200 later
    tool results diff results later
    succeeds
    says '2 of 2 entries are as they were'
    python3 - <<'PY'
import json
path = "later/nvidia-h200/transpose.json"
r = json.load(open(path))
for name in ("median_ns", "low_ns", "high_ns"):
    r["entries"][0]["time"][name] = r["entries"][0]["time"][name] * 11 // 10
r["entries"][0]["configuration"]["pad"] = 1
r["entries"][1]["problem"]["rows"] = 7
json.dump(r, open(path, "w"))
PY
    COLUMNS=200 tool results diff results later/nvidia-h200/transpose.json
    succeeds
    says SLOWER
    says GONE
    says ADDED
    says 'pad=0'
    tool results diff results later --json
    says '"configuration_changed": true'
    tool results diff results
    fails_with 2 'needs A and B'
    tool results diff "$RECORDS/nvidia-h200" "$RECORDS/nvidia-h100-80gb-hbm3"
    succeeds
    says 'A is of NVIDIA H200, B of NVIDIA H100 80GB HBM3: entries are compared with those of the same GPU, and there are none'
    tool results diff "$RECORDS" "$RECORDS/nvidia-h200"
    says_nothing_of 'A is of'
}

@test "another machine's records are merged with a report; --dry-run only prints the report" {
    tool results merge "$RECORDS" --dry-run
    succeeds
    says 'added     transpose of NVIDIA H200'
    says 'nothing was changed'
    [ ! -e results ]
    tool results merge "$RECORDS"
    succeeds
    tool results diff "$RECORDS" results
    says_nothing_of GONE
    says_nothing_of ADDED
    tool results merge "$RECORDS"
    says '0 added, 0 replaced'
    tool results validate results
    succeeds
}

@test "the newer of each ceiling is merged, even from a folder without records" {
    mkdir -p mine/g there
    ceilings='{"schema": "autotune-device", "version": 1, "gpu": "G", "ceilings": {%s}}\n'
    printf "$ceilings" '"copy": {"rate": 10, "date": "2026-01-01"}, "read": {"rate": 20, "date": "2026-03-01"}' \
        >mine/g/device.json
    printf "$ceilings" '"copy": {"rate": 11, "date": "2026-02-01"}, "read": {"rate": 21, "date": "2026-02-01"},
        "fp32": {"rate": 30}' >there/device.json
    cp mine/g/device.json before.json
    tool results merge there --results mine --dry-run
    succeeds
    cmp mine/g/device.json before.json
    tool results merge there --results mine
    succeeds
    [ -z "$errors" ]
    says 'replaced  ceiling copy of G: the newer one is taken'
    says 'kept      ceiling read of G: the newer one is taken'
    says 'added     ceiling fp32 of G'
    says '1 added, 1 replaced, 1 kept'
    python3 -c 'import json
rates = {k: v["rate"] for k, v in json.load(open("mine/g/device.json"))["ceilings"].items()}
assert rates == {"copy": 11, "read": 20, "fp32": 30}, rates'
    tool results merge mine --results new --json
    succeeds
    says '"ceiling": "fp32"'
    says '"kind": "ceiling"'
    python3 -c 'import json; assert json.load(open("new/g/device.json")) == json.load(open("mine/g/device.json"))'
    tool results merge mine --results new
    says '0 added, 0 replaced, 0 kept, 3 as they were'
}

@test "unreadable ceilings are skipped and named, and the destination does not change" {
    mkdir -p there/g there/h results/h
    echo '{' >there/g/device.json
    printf '{"schema": "autotune-device", "version": 1, "gpu": "H", "ceilings": {"copy": {"rate": 1}}}' \
        >there/h/device.json
    tool results merge there --results new
    succeeds
    grep -F 'left out: there/g/device.json' err.txt
    says '1 added'
    echo '{' >results/h/device.json
    tool results merge there
    fails_with 4 'results/h/device.json'
    [ "$(cat results/h/device.json)" = '{' ]
}

@test "a merge on a full disk leaves the old file" {
    one 'r["entries"] = r["entries"][:1]'
    cp results/nvidia-h200/transpose.json before.json
    status=0
    (ulimit -f 4; "$AUTOTUNE" results merge "$RECORDS" >out.txt 2>err.txt) || status=$?
    [ "$status" -ne 0 ]
    cmp before.json results/nvidia-h200/transpose.json
}

@test "pruning reports the removed entries with reasons, and needs a selection" {
    one 'e["date"] = "2020-01-01T00:00:00Z"; r["entries"][1]["date"] = "2999-01-01T00:00:00Z"'
    tool results prune
    fails_with 2 'say what to prune'
    tool results prune --older-than 365d --dry-run
    succeeds
    says 'removed   transpose of NVIDIA H200, rows=8192'
    says 'it is of 2020-01-01'
    tool results list --results results
    says 'rows=8192'
    tool results prune --older-than 2021-01-01
    succeeds
    says '1 removed'
    tool results list --results results
    says 'rows=16384'
    says_nothing_of 'rows=8192'
    tool results prune --older-than soon
    fails_with 2 '90d'
}

@test "entries are stale if the script or template changed or the configuration is outside the space" {
    one 'e["configuration"]["tile_x"] = 63; e["hashes"] = {}; r["entries"][1]["hashes"] = {}'
    tool results prune --stale
    succeeds
    says 'its space lacks the configuration'
    says '1 removed'
    one 'r["entries"] = [e]; e["hashes"]["script"] = "0"'
    tool results prune --stale --json
    succeeds
    says 'the script has changed since'
    mkdir -p results/g
    sed 's/"transpose"/"unheard_of"/; s/NVIDIA H200/G/' "$RECORDS/nvidia-h200/transpose.json" >results/g/unheard_of.json
    tool results prune --stale
    succeeds
    [[ "$errors" == *"kept, because the script cannot be checked: unheard_of"* ]]
    says '0 removed'
}

@test "a message about an unknown verb names the nearest" {
    tool results lst
    fails_with 2 "did you mean 'list'?"
}

# pair OUT: writes a.lua, which copies x to m, and b.lua, which copies OUT to y, for the fake GPU
pair() {
    local name from to
    for name in a b; do
        from=x to=m
        [ $name = a ] || from=$1 to=y
        cat >$name.lua <<EOF
local at = require "autotune"
return at.pattern {
  name = "$name", problem = { n = 4096 }, ragged = { n = 1003 }, space = { block = { 64, 128 } },
  buffers = { $from = at.input { dtype = "float", count = "n" }, $to = at.output { dtype = "float", count = "n" } },
  kernel = { template = "$name.cu.tmpl", entry = "good_10", args = { "$from", "$to", at.int64 "n" } },
  launch = { grid = "ceil_div(n, block)", block = "block" },
}
EOF
        cat >$name.cu.tmpl <<'EOF'
extern "C" __global__ void good_10(const float *x, float *y, long long n)
{
    long long i = blockIdx.x * (long long)${block} + threadIdx.x;
    if (i < n) y[i] = x[i];
}
EOF
    done
}

@test "a record names the kernels after which it was measured, and is picked before a record measured alone" {
    export AUTOTUNE_LIBCUDA=$FAKE_CUDA
    pair m
    tool b.lua --device cuda:0 --results r --quiet --only block=64 --set n=8192
    succeeds
    tool b.lua --device cuda:0 --results r --quiet --only block=128 --set n=8192 --after a.lua --json
    succeeds
    python3 -c 'import json; assert json.load(open("out.txt"))["after"] == "a"'
    python3 -c 'import json; e = json.load(open("r/fake-gpu-0/b.json"))["entries"]
assert [x["measured"].get("after") for x in e] == [None, "a"], e'
    tool results list --results r
    says 'n=8192 (after a)'
    tool pick b.lua --results r --set n=8192 --gpu fake-gpu-0
    says 'block=128'
    tool results validate r/fake-gpu-0/b.json
    succeeds
}

@test "commands that cannot run before a sample are refused" {
    export AUTOTUNE_LIBCUDA=$FAKE_CUDA
    pair m
    tool b.lua --device sim --after a.lua
    fails_with 2 '--after needs a real GPU'
    tool b.lua --device cuda:0 --after a.lua --energy
    fails_with 2 '--after cannot be combined with energy, which is measured over'
    cp a.cu.tmpl prepare.tmpl
    sed 's/  launch =/  prepare = at.kernel { template = "prepare.tmpl", args = { "x", "x", at.int64 "n" }, grid = 1, block = 1 },\n&/' \
        a.lua >prepared.lua
    tool b.lua --device cuda:0 --after prepared.lua
    fails_with 2 'prepared.lua: --after prepared.lua: a kernel prepares its inputs, which --after does not run'
    tool b.lua --device cuda:0 --after nothing.lua
    fails_with 2 '--after nothing.lua: '
    tool b.lua --device cuda:0 --after a.lua --after a.lua --after a.lua --after a.lua --after a.lua
    fails_with 2 'at most'
    sed -i 's/m = at.output { dtype = "float"/m = at.output { dtype = "double"/' a.lua
    tool b.lua --device cuda:0 --after a.lua --no-record
    fails_with 2 '--after a: its buffer m has 32768 bytes, but the buffer of that name in the kernels after it has 16384: both are one buffer, so'
}

@test "a budget of time includes the proof, and the record says that the proof did not finish" {
    export AUTOTUNE_LIBCUDA=$FAKE_CUDA
    cat >long.lua <<'EOF'
local at = require "autotune"
return at.pattern {
  name = "long", problem = { n = 65536 }, ragged = { n = 1003 }, space = { block = { 64 } },
  buffers = { x = at.input { dtype = "float", count = "n" }, y = at.output { dtype = "float", count = "n" } },
  kernel = { template = "long.cu.tmpl", entry = "good_10", args = { "x", "y", at.int64 "n" } },
  launch = { grid = "ceil_div(n, block)", block = "block" },
}
EOF
    # The fake GPU is used, because the simulated device would need minutes.
    cat >long.cu.tmpl <<'EOF'
extern "C" __global__ void good_10(const float *x, float *y, long long n)
{
    long long i = blockIdx.x * (long long)${block} + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < 5000 && i < n; k++)
        sum += x[(i + k) % n];
    if (i < n) y[i] = sum == 1e30f ? 0 : x[i];
}
EOF
    tool long.lua --device cuda:0 --results r --budget 6s --quiet --json
    succeeds
    python3 -c 'import json; t = json.load(open("out.txt"))["wall_s"]; assert t < 20, t'
    python3 -c 'import json; proof = json.load(open("r/fake-gpu-0/long.json"))["entries"][0]["proof"]
assert proof == {"proven": False, "why": "the budget of time ended before"}, proof'
}
