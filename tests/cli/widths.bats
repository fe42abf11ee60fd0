load helpers

RESULTS="$BATS_TEST_DIRNAME/../../results"

fits() { # fits COMMAND...: checks that no line is wider than a terminal of 80, 120 or 200 columns
    python3 "$BATS_TEST_DIRNAME/widths.py" 80,120,200 "$AUTOTUNE" "$@"
}

grows() { # grows COMMAND...: checks that the output fits, and that it uses the width of a wide terminal
    python3 "$BATS_TEST_DIRNAME/widths.py" --grows 80,120,200 "$AUTOTUNE" "$@"
}

@test "help, options and topics fit the terminal" {
    fits --help
    fits tune --help
    fits spills --help
    fits help
    fits help check
}

@test "pages fit the terminal, except for lines of code" {
    PYTHONPATH="$BATS_TEST_DIRNAME" python3 - "$AUTOTUNE" "$BATS_TEST_DIRNAME/../../docs" <<'EOF'
import os, re, sys
from terminal import run_on_terminal

for page in ("tutorial", "scripts", "embedding"):
    kept, fenced = set(), False
    for line in open(os.path.join(sys.argv[2], page + ".md")).read().split("\n"):
        fenced ^= line.startswith("```")
        if fenced or line.startswith("    "):
            kept.add(line)
    assert any(len(line) > 80 for line in kept), page
    out, child, errors = run_on_terminal([sys.argv[1], "help", page])
    shown = out.decode().replace("\r\n", "\n").split("\n")
    assert child.returncode == 0 and kept <= set(shown), kept - set(shown)
    wide = [line for line in shown if len(line) > 80 and line not in kept]
    assert not wide, wide
EOF
}

@test "space, lint and pick fit the terminal" {
    grows space transpose.lua
    fits lint transpose.lua
    grows pick transpose --set rows=8190 --gpu nvidia-h200 --results "$RESULTS"
}

@test "a run's tables fit the terminal" {
    grows transpose.lua --device sim:sm_90 --budget 2 --quiet
}

@test "recorded sweeps fit the terminal" {
    grows sweep strided.lua --over stride=1,2,4,...,32 --recorded --results "$RESULTS"
}

@test "inspect, spills, explain and check fit the terminal" {
    grows inspect transpose.lua --over tile_x=32,64 --over pad=0,1 --arch sm_90
    grows spills spill.lua --over registers=24,40 --over live=32,64 --shared-spills --arch sm_90
    grows explain transpose.lua --config algorithm=tile,pad=0
    fits check transpose.lua --config pad=0
}

@test "results, compare, importance, replay and plot fit the terminal" {
    grows results list --results "$RESULTS"
    grows results show transpose --results "$RESULTS"
    grows results diff "$RESULTS"/nvidia-h200 "$RESULTS"/nvidia-h100-80gb-hbm3
    grows compare "$RESULTS"/nvidia-h200/transpose.json "$RESULTS"/nvidia-h100-80gb-hbm3/transpose.json
    grows importance "$RESULTS"/nvidia-h200/landscapes/dot.json.gz
    fits replay "$RESULTS"/nvidia-h200/landscapes/strided.json.gz --repeat 2
    fits plot "$RESULTS"/nvidia-h200/landscapes/dot.json.gz --kind heatmap
    grows plot "$RESULTS"/nvidia-h200/landscapes/dot.json.gz --kind importance
}

@test "output to a file for programs has no line breaks" {
    tool emit transpose.lua --config algorithm=tile
    succeeds
    cp out.txt whole.txt
    COLUMNS=60 tool emit transpose.lua --config algorithm=tile
    cmp out.txt whole.txt
}

@test "COLUMNS sets the width of tables in a file, and the default is 80" {
    tool compare "$BATS_TEST_DIRNAME"/../../results/nvidia-h{200,100-80gb-hbm3}/transpose.json
    [ "$(awk '/^ / { if (length($0) > most) most = length($0) } END { print (most <= 80) }' out.txt)" -eq 1 ]
    COLUMNS=120 tool compare "$BATS_TEST_DIRNAME"/../../results/nvidia-h{200,100-80gb-hbm3}/transpose.json
    says 'rows=8192,cols=8192,dtype=float'
}

@test "only terminals with colours get colours, unless NO_COLOR is set" {
    escapes() { # escapes VARIABLE=VALUE: prints the escape sequences of a table on a terminal
        env "$1" PYTHONPATH="$BATS_TEST_DIRNAME" python3 - "$AUTOTUNE" "$RESULTS" <<'PY'
import sys
from terminal import run_on_terminal
out, child, _ = run_on_terminal([sys.argv[1], "results", "list", "dot", "--results", sys.argv[2]])
assert child.returncode == 0 and b"reaches" in out
print(out.count(b"\x1b"))
PY
    }
    [ "$(escapes TERM=xterm)" -gt 0 ]
    [ "$(escapes TERM=dumb)" -eq 0 ]
    [ "$(TERM=xterm escapes NO_COLOR=1)" -eq 0 ]
}
