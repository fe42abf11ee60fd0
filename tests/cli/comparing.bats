load helpers

RECORDS="$BATS_TEST_DIRNAME/../../results/nvidia-h200"

# slowed FACTOR: writes slow.json, the record of the transpose with all times multiplied by FACTOR
slowed() {
    python3 - "$RECORDS/transpose.json" "$1" >slow.json <<'PY'
import json, sys
record, factor = json.load(open(sys.argv[1])), float(sys.argv[2])
for entry in record["entries"]:
    for name in ("median_ns", "low_ns", "high_ns", "min_ns", "q1_ns", "q3_ns"):
        entry["time"][name] = round(entry["time"][name] * factor)
json.dump(record, sys.stdout)
PY
}

@test "a record compared with itself is equal" {
    tool compare "$RECORDS/transpose.json" "$RECORDS/transpose.json" --fail-on slower
    succeeds
    says SAME
    says_nothing_of SLOWER
}

@test "a slowdown of 3 percent is reported, and gives exit code 6 if requested" {
    slowed 1.03
    tool compare "$RECORDS/transpose.json" slow.json
    succeeds
    says SLOWER
    tool compare "$RECORDS/transpose.json" slow.json --fail-on slower
    [ "$status" -eq 6 ]
    tool compare slow.json "$RECORDS/transpose.json" --fail-on slower
    succeeds
    says FASTER
}

@test "comparing records of two GPUs says so" {
    tool compare "$RECORDS/transpose.json" "$RECORDS/../nvidia-h100-80gb-hbm3/transpose.json" --fail-on slower
    [ "$status" -eq 6 ]
    says 'A was measured on NVIDIA H200, B on NVIDIA H100 80GB HBM3.'
}

@test "a damaged record is an error" {
    slowed 1
    sed -i 's/"median_ns": [0-9]*/"median_ns": "soon"/' slow.json
    tool compare "$RECORDS/transpose.json" slow.json
    fails_with 4 'whole number of nanoseconds'
}

@test "records without a problem in common are refused" {
    tool compare "$RECORDS/transpose.json" "$RECORDS/dot.json"
    fails_with 2 'no problem in common'
}

# best PAD: prints a run of the transpose in which the best variant has the padding PAD
best() {
    printf '{"pattern": "transpose", "problem": {"rows": 256, "cols": 256, "dtype": "float"}, "counts": {},
             "results": [{"config": {"algorithm": "tile", "pad": %s}, "outcome": "ok", "time_ns": 1000}]}' "$1"
}

@test "winners are raced side by side: a tile without padding is slower" {
    best 1 >padded.json
    best 0 >bare.json
    tool compare padded.json bare.json --race --device sim:sm_90 --fail-on slower
    [ "$status" -eq 6 ] || { echo "exit $status: $errors"; return 1; }
    says 'Raced side by side'
    says SLOWER
    tool compare padded.json padded.json --race --device sim:sm_90 --fail-on slower
    succeeds
    says SAME
}

@test "if the winners differ, counts that are exact without a GPU are shown for both" {
    best 1 >padded.json
    best 0 >bare.json
    tool compare padded.json bare.json
    succeeds
    says 'counted on a simulated sm_90'
    [[ "$output" =~ 'bank conflicts 0 -> '[1-9] ]]
    tool compare padded.json padded.json
    succeeds
    says_nothing_of 'simulated sm_90'
}

@test "importance finds the decisive parameters of a recorded space" {
    tool importance "$RECORDS/landscapes/transpose.json.gz" --json
    succeeds
    says '"name": "pad"'
    says '"measured": 3722'
    tool importance "$RECORDS/landscapes/transpose.json.gz"
    says '3722 configurations that work'
    says_nothing_of 'such shares are rough'
}

@test "importance of few configurations says that it is rough" {
    tool tune "$FIXTURES/scale.lua" --device sim:sm_90 --budget 6 --quiet --json --top 100 --no-record
    cp out.txt run.json
    tool importance run.json
    succeeds
    says 'With fewer than 50 configurations such shares are rough'
}
