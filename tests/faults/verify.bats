load helpers

# Writes a record of timed.lua on the fake GPU. A step away from a = 11 and b = 5 costs 1 us. EDIT is Python that
# changes `entries`.
record() { # record COUNT [EDIT]
    python3 - "$@" <<'PY'
import json, os, sys
def timed(a, b):
    ns = 22000 + 1000 * (abs(a - 11) + abs(b - 5))
    return {"configuration": {"a": a, "b": b}, "time": {"median_ns": ns, "low_ns": ns, "high_ns": ns}}
entries = []
for i in range(int(sys.argv[1])):
    entry = {"problem": {"n": 4096 + 256 * i}, **timed(11, 5)}
    entry["contenders"] = [timed(11, 6), timed(12, 5), timed(13, 5), timed(11, 9)]
    entries.append(entry)
def exchange(entry, place=0):
    other = entry["contenders"][place]
    for name in ("configuration", "time"):
        entry[name], other[name] = other[name], entry[name]
for edit in sys.argv[2:]:
    exec(edit)
os.makedirs("results/fake-gpu-0", exist_ok=True)
json.dump({"schema": "autotune-record", "version": 1, "pattern": "timed", "gpu": "Fake GPU 0",
           "compute_capability": "9.0", "entries": entries}, open("results/fake-gpu-0/timed.json", "w"), indent=1)
PY
}

verify() { # verify [OPTION]...: runs `verify` in a folder with the script and the record
    gpu
    needs_the_fake
    cp -n "$BATS_TEST_DIRNAME"/timed*.lua "$BATS_TEST_DIRNAME"/timed*.tmpl .
    COLUMNS=200 tool verify --device cuda:0 --quiet "$@"
}

holding() { # holding COUNT: checks that COUNT entries hold
    says "\"holds\": $1,"
}

@test "an unchanged winner holds" {
    record 2
    verify --fail-on any
    succeeds
    says '2 of 2 hold on Fake GPU 0'
}

@test "verify names exactly the two of a hundred records whose winner and runner-up were swapped" {
    record 100 'exchange(entries[17])' 'exchange(entries[63])'
    verify --json --fail-on overtaken
    [ "$status" -eq 6 ]
    holding 98
    python3 - out.txt <<'PY'
import json, sys
found = json.load(open(sys.argv[1]))
named = [r for r in found["records"] if r["verdict"] == "OVERTAKEN"]
assert [r["problem"]["n"] for r in named] == [4096 + 256 * 17, 4096 + 256 * 63], named
for r in named:
    assert r["rival"]["configuration"] == {"a": 11, "b": 5} and r["configuration"] == {"a": 11, "b": 6}, r
    assert 1.04 < r["rival"]["ratio_low"] <= r["rival"]["ratio_high"] < 1.05, r
assert all(r["blocks"] < 20 for r in found["records"]), "races that are clear end at once"
PY
}

@test "a difference below --tie holds, whichever variant was recorded as the winner" {
    record 1 'exchange(entries[0])'
    verify --tie 6
    succeeds
    says '1 of 1 hold'
}

@test "a swap between equally fast variants is recognised by the measured source" {
    gpu
    needs_the_fake
    cp "$BATS_TEST_DIRNAME"/timed*.lua "$BATS_TEST_DIRNAME"/timed*.tmpl .
    # takes the hash of the winner's source from a run
    tool timed.lua --device cuda:0 --quiet --only a=11,12 --only b=5 --results taken
    succeeds
    hash=$(sed -n 's/.*"source": "\([0-9a-f]*\)".*/\1/p' taken/fake-gpu-0/timed.json)
    record 2 'exchange(entries[1], 0)' "entries[1]['hashes'] = {'source': '$hash'}"
    verify --tie 50 --fail-on broken
    [ "$status" -eq 6 ]
    says 'BROKEN'
    says "a=11,b=5: the file's configurations were exchanged"
    says '1 of 2 hold'
}

@test "a configuration that is no longer in the script is broken, and the other entries are verified" {
    record 3 'entries[1]["configuration"]["a"] = 61'
    verify --fail-on broken
    [ "$status" -eq 6 ]
    says 'BROKEN'
    says "61"
    says '2 of 3 hold'
}

@test "a template that no longer compiles breaks its records, with the compiler's message" {
    record 1
    cp "$BATS_TEST_DIRNAME"/timed* .
    sed -i 's/dst\[i\] = src\[i\];/dst[i] = sorce[i];/' timed.cu.tmpl
    verify
    succeeds
    says 'BROKEN'
    says '"sorce" is undefined'
}

@test "the output names a changed template and the entries that no longer hold" {
    record 1 'exchange(entries[0])' 'entries[0]["hashes"] = {"script": "0", "template": "0"}' \
        'entries[0]["device"] = {"nvrtc": "9.9"}'
    verify
    says 'changed since: nvrtc 9.9 -> '
    says ', script, template'
}

@test "a record without its script, or with energy as the objective, cannot be verified, and the output says why" {
    record 2 'entries[1]["measured"] = {"cache": "cold", "objective": "energy"}'
    verify --fail-on overtaken
    succeeds
    says 'NOT VERIFIABLE'
    says 'chosen by energy'
    says '1 of 2 hold'
    rm timed.lua
    tool verify --device cuda:0 --quiet --fail-on any
    [ "$status" -eq 6 ]
    says "there is no script 'timed'"
}

@test "records of a warm cache are raced with a warm cache" {
    record 2 'entries[0]["measured"] = {"cache": "warm"}'
    verify
    succeeds
    says '2 of 2 hold'
    says '(warm)'
}

@test "a damaged entry costs only itself" {
    record 3 'entries[1] = {"problem": 7}'
    verify
    succeeds
    says '2 of 2 hold'
    [[ "$errors" == *"left out: results/fake-gpu-0/timed.json: entry 2: problem must be"* ]]
}

@test "--set limits the verified entries, a script names its pattern, and unrecorded problems are refused" {
    record 4
    verify ./timed.lua --set n=4352 --json
    succeeds
    holding 1
    tool verify timd --device cuda:0
    fails_with 2 "did you mean 'timed'?"
    tool verify --device sim:sm_90
    fails_with 2 'predictions'
    tool verify --device cuda:0 --fail-on slower
    fails_with 2 'overtaken, broken or any'
    export FAKE_CUDA_NAMES="Another GPU"
    tool verify --device cuda:0
    fails_with 2 'Another GPU'
}

@test "an interrupted verify prints the entries verified so far" {
    record 100
    gpu
    needs_the_fake
    cp "$BATS_TEST_DIRNAME"/timed*.lua "$BATS_TEST_DIRNAME"/timed*.tmpl .
    FAKE_CUDA_TIME_US=20000 "$AUTOTUNE" verify --device cuda:0 --quiet >out.txt 2>err.txt &
    pid=$!
    sleep 2
    kill -INT "$pid"
    end_run
    [ "$status" -eq 130 ]
    says 'were not reached'
}
