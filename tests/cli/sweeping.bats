load helpers

holds() { # holds EXPRESSION: checks a Python expression about `points`, the points of the printed curve
    python3 -c 'import json, sys
points = json.load(open("out.txt"))["points"]
assert eval(sys.argv[1].replace("\n", " ")), points' "$1"
}

@test "a sweep tunes each point and prints the best configuration of each" {
    tool sweep "$FIXTURES/scale.lua" --over n=1000,2000,4000 --device sim:sm_90 --budget 2 --quiet
    succeeds
    says "times are predicted"
    for n in 1000 2000 4000; do
        grep -Eq "^ +$n +[0-9.]+ " out.txt || { echo "no line of $n: $output"; return 1; }
    done
}

@test "a range is refused, and the message names the command for ranges" {
    tool sweep "$FIXTURES/scale.lua" --over n=64K..1M --device sim:sm_90
    fails_with 2 "'64K..1M' is a range, which 'autotune portfolio' takes; here values are listed"
}

@test "sweep --json has a point for each combination, in order" {
    tool sweep "$FIXTURES/scale.lua" --over n=1000,...,1001 --over scale=2,3 --device sim:sm_90 \
        --budget 1 --json --quiet
    succeeds
    holds '[[p["problem"]["n"], p["problem"]["scale"]] for p in points] ==
           [[1000, 2], [1000, 3], [1001, 2], [1001, 3]]'
}

@test "a point that cannot be tuned does not end the sweep" {
    sed 's/where = {/where = { "n < 2000 or n > 3000",/' "$FIXTURES/scale.lua" >scale.lua
    cp "$FIXTURES"/scale*.cu.tmpl .
    tool sweep scale.lua --over n=1000,2500,4000 --device sim:sm_90 --budget 1 --json --quiet
    succeeds
    holds '["config" in p for p in points] == [True, False, True]'
    holds '"n < 2000" in points[1]["message"]'
}

@test "the curve of a sweep can be printed from the records and drawn" {
    mkdir results
    cp -r "$FIXTURES/../../results/"nvidia-* results/
    tool sweep strided --over stride=1,2,4,128 --recorded --json
    succeeds
    python3 - <<'PY'
import json
curves = json.load(open("out.txt"))["curves"]
assert len({c["device"] for c in curves}) == len(curves) == 2
assert curves[1]["points"][2]["config"] and curves[1]["points"][3]["message"] == "not recorded"
PY
    command -v gnuplot || skip "gnuplot is not installed"
    tool sweep strided --over stride=1,2,4 --recorded --picture a.svg
    succeeds
    grep -q '</svg>' a.svg
}

@test "a sweep without recorded points says so, and ends with 1" {
    tool sweep strided --over stride=77 --recorded --results "$FIXTURES/../../results"
    [ -z "$output" ]
    fails_with 1 "nothing is recorded of these problems of strided"
}

@test "for a sweep over an unknown variable, the message names the problem's variables" {
    tool sweep "$FIXTURES/scale.lua" --over m=1,2 --device sim:sm_90
    fails_with 2 "the problem has no such variable"
    tool sweep "$FIXTURES/scale.lua" --device sim:sm_90
    fails_with 2 "needs --over"
    tool sweep "$FIXTURES/scale.lua" --over n --device sim:sm_90
    fails_with 2 "not 'n'"
    tool sweep "$FIXTURES/scale.lua" --over n=1,2 --set n=3 --device sim:sm_90
    fails_with 2 "by both --over and --set"
}

@test "a sweep refuses a wrong file name of a picture before it measures" {
    tool sweep strided.lua --over stride=1 --device sim --budget 1 --picture x.bmp
    fails_with 2 "the name of a picture must end in .png or .svg, not 'x.bmp'"
    [ -z "$output" ]
}
