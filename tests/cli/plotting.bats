load helpers

LANDSCAPE="$BATS_TEST_DIRNAME/../../results/nvidia-h200/landscapes/dot.json.gz"

needs_gnuplot() {
    command -v gnuplot >/dev/null || skip "gnuplot is missing"
}

# Does the same as tool(), on a machine without gnuplot.
tool_without_gnuplot() {
    status=0
    PATH=/nonexistent "$AUTOTUNE" "$@" >out.txt 2>err.txt || status=$?
    output=$(cat out.txt)
    errors=$(cat err.txt)
}

@test "a script given in place of a run's results is reported as a script" {
    cp "$FIXTURES/saxpy.cu" .
    for command in plot importance replay; do
        tool $command saxpy.cu
        fails_with 4 "saxpy.cu: this file has no results of a run: 'autotune SCRIPT --json --top 1000000 >FILE' writes such a file"
    done
}

@test "a message about a missing file says where journals are" {
    tool plot nothing.json
    fails_with 2 "there is no file nothing.json"
    fails_with 2 "runs keep journals in $WORK/state/autotune/journal"
}

@test "every kind of plot of a recorded space is drawn as SVG" {
    needs_gnuplot
    for kind in rank sweep heatmap convergence importance; do
        tool plot "$LANDSCAPE" --kind $kind -o picture.svg
        succeeds
        grep -q '</svg>' picture.svg
        rm picture.svg
    done
}

@test "PNG goes to a file, text to the terminal" {
    needs_gnuplot
    tool plot "$LANDSCAPE" -o picture.png
    succeeds
    [ "$(head -c 4 picture.png | tail -c 3)" = PNG ]
    tool plot "$LANDSCAPE" --kind sweep
    succeeds
    says 'us'
}

@test "a heat map draws the two parameters that explain most, not the pair with the most interaction" {
    # The effects of a and b are large and independent. The effect of c is small, and depends on a.
    python3 - >space.json <<'PY'
import json
results = [{"configuration": {"a": a, "b": b, "c": c}, "objectives": ["time"], "times": {"runtimes": []}, "invalidity": "correct",
            "measurements": [{"name": "time", "value": 2 ** a * 3 ** b * (1.01 if a == c else 1)}]}
           for a in range(3) for b in range(3) for c in range(3)]
print(json.dumps({"schema_version": "1.0.0", "results": results}))
PY
    tool_without_gnuplot plot space.json --kind heatmap
    succeeds
    grep -qE 'b down, a across|a down, b across' out.txt
}

@test "a heat map in the terminal consists of blocks and needs no gnuplot" {
    LC_ALL=C.UTF-8 tool_without_gnuplot plot "$LANDSCAPE" --kind heatmap
    succeeds
    says '██'
    LC_ALL=C tool_without_gnuplot plot "$LANDSCAPE" --kind heatmap
    succeeds
    says '## < 1 %'
    [ -z "$(tr -d '\0-\177' <out.txt)" ]
}

@test "importance in the terminal has two bars for each parameter and needs no gnuplot" {
    LC_ALL=C.UTF-8 tool_without_gnuplot plot "$LANDSCAPE" --kind importance
    succeeds
    says 'algorithm  56.9 % ██'
    says '43.6 % ▒▒'
    LC_ALL=C tool_without_gnuplot plot "$LANDSCAPE" --kind importance
    [ -z "$(tr -d '\0-\177' <out.txt)" ]
}

@test "without gnuplot the package to install is named" {
    tool_without_gnuplot plot "$LANDSCAPE" -o picture.svg
    fails_with 3 'gnuplot-nox'
}

@test "for an unknown kind of plot, the message names the nearest" {
    tool plot "$LANDSCAPE" --kind heatmp
    fails_with 2 'did you mean heatmap'
}

# Writes a record with two contenders, or with no contender if the argument is "{}".
write_record() {
    python3 - "$BATS_TEST_DIRNAME/../../results/nvidia-h200/transpose.json" "$1" >record.json <<'END'
import copy, json, sys
record = json.load(open(sys.argv[1]))
best = record["entries"][0]
best["contenders"], record["entries"] = [], [best]
for vec in json.loads(sys.argv[2]):
    next_one = {"configuration": dict(best["configuration"], load_vec=vec), "time": dict(best["time"])}
    next_one["time"]["median_ns"] += 100 * vec
    best["contenders"].append(next_one)
json.dump(record, sys.stdout)
END
}

@test "plot draws the best few results of a record, and names the file with all results" {
    needs_gnuplot
    write_record '[1, 4]'
    tool plot record.json --kind rank --by load_vec -o picture.svg
    succeeds
    grep -q 'the best few and the default' picture.svg
    [ -z "$errors" ]
    # The baseline must be drawn first, so that curves lie over it.
    python3 -c 'svg = open("picture.svg").read(); assert 0 < svg.index(">baseline<") < svg.index(">load_vec=")'
    pattern=$(python3 -c 'import json; print(json.load(open("record.json"))["pattern"])')
    mkdir landscapes && touch "landscapes/$pattern.json.gz"
    tool plot record.json --kind rank --by load_vec -o picture.svg
    [[ "$errors" == *"the whole space is in landscapes/$pattern.json.gz"* ]]
    tool plot record.json --kind roofline -o picture.svg
    succeeds
    tool plot record.json --kind heatmap
    fails_with 2 '--json --top 1000000'
    tool importance record.json
    fails_with 2 '--json --top 1000000'
    write_record '[]'
    tool plot record.json
    fails_with 2 'only the winner and the default'
}

# write_run WORK: writes a run of three variants on an H200, with the work of a launch and the GPU's ceilings
write_run() {
    cat >run.json <<END
{"pattern": "p", "problem": {"n": 64}, "counts": {}, "device": {"kind": "cuda", "name": "NVIDIA H200"}, $1,
 "ceiling": "$2", "baseline": {"time_ns": 2000}, "rate": "$3", "rate_unit": "$4",
 "results": [{"config": {"a": 1}, "outcome": "ok", "time_ns": 1000, "$3": 2}, {"config": {"a": 2}, "outcome": "ok", "time_ns": 2000, "$3": 1},
             {"config": {"a": 3}, "outcome": "ok", "time_ns": 3000, "$3": 0.7}]}
END
    mkdir -p known/nvidia-h200
    cat >known/nvidia-h200/device.json <<'END'
{"schema": "autotune-device", "version": 1, "gpu": "NVIDIA H200", "compute_capability": "9.0",
 "ceilings": {"copy": {"rate": 4000}, "l2": {"rate": 9000}, "shared": {"rate": 30000}, "fp32": {"rate": 50000}}}
END
}

@test "a roofline has flops over flops per byte, below the measured ceilings" {
    needs_gnuplot
    write_run '"traffic_bytes": 1000000, "flops": 8000000' fp32 gflops GFLOP/s
    tool plot run.json --kind roofline --results known -o picture.svg
    succeeds
    for words in 'arithmetic intensity' 'GFLOP/s' 'copy 4000 GB/s' 'l2 9000 GB/s' 'shared 30000 GB/s' 'fp32 50000 GFLOP/s'; do
        grep -q "$words" picture.svg || { echo "no $words"; return 1; }
    done
    COLUMNS=100 tool plot run.json --kind roofline --results known
    says 'arithmetic intensity'
}

@test "without flops a roofline has bytes per second, and says so" {
    needs_gnuplot
    write_run '"traffic_bytes": 1000000' copy gbps GB/s
    tool plot run.json --kind roofline --results known -o picture.svg
    succeeds
    for words in 'no flops are given' 'copy 4000 GB/s' 'l2 9000 GB/s' 'shared 30000 GB/s'; do
        grep -q "$words" picture.svg || { echo "no $words"; return 1; }
    done
    lacks 'fp32\|intensity' picture.svg
    write_record '[]'
    tool plot record.json --kind roofline -o picture.svg
    succeeds
}

@test "coinciding curves of a rank plot can all be seen: their dashes differ" {
    needs_gnuplot
    tool plot "${LANDSCAPE/dot/transpose}" --by algorithm -o picture.svg
    succeeds
    python3 - <<'PY'
import re
svg = open("picture.svg").read()
dashes = {d for d in re.findall(r"stroke-dasharray='([^']*)'", svg)}
assert len(dashes) == 3, dashes  # the first of four curves is solid
assert all(float(re.split("[, ]+", d)[0]) >= 4 for d in dashes), dashes
PY
}

@test "a rank plot of more values than colours shows some of them, and says so" {
    needs_gnuplot
    tool plot "${LANDSCAPE/dot/spill}" --by live -o picture.svg
    succeeds
    grep -q '8 of 32 values' picture.svg
}

@test "a message names data that the file does not contain" {
    tool plot "$LANDSCAPE" --kind roofline
    fails_with 2 '--json'
}

@test "a record's times of all variants are drawn by the values of their parameter" {
    needs_gnuplot
    jq '.entries[0].landscape = {parameter: "algorithm", variants: 4, values: [{value: "made_up", times_ns: [500000, 600000]},
        {value: "registers", times_ns: [180000, 190000]}]} | .entries |= .[0:1]' \
        "$BATS_TEST_DIRNAME/../../results/nvidia-h100-80gb-hbm3/transpose.json" >record.json
    tool plot record.json
    succeeds
    says 'algorithm=made_up'
    tool plot record.json --kind heatmap
    fails_with 2 'a record has only the best few'
    jq 'del(.entries[0].landscape)' record.json >older.json
    tool plot older.json
    says_nothing_of made_up
}

@test "importance and plots of a run on a small problem say so" {
    cp "$FIXTURES"/scale* .
    tool scale.lua --device sim:sm_90 --only cached=true --json --top 1000000 --quiet
    # Runs of earlier versions of autotune have two times for each variant.
    jq '.results |= map(.tuned_ns = .time_ns)' out.txt >run.json
    tool importance run.json
    succeeds
    says 'The times are those of the small problem that was run'
    needs_gnuplot
    tool plot run.json -o picture.svg
    succeeds
    grep -q '(predicted, small problem)' picture.svg
}
