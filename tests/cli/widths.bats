load helpers

fits() { # fits COMMAND...: on terminals of 80, 100 and 200 columns no line is wider
    fits_at 80,100,200 "$@"
}

fits_at() { # fits_at COLUMNS[,COLUMNS...] COMMAND...
    python3 "$BATS_TEST_DIRNAME/widths.py" "$1" "$AUTOTUNE" "${@:2}"
}

@test "help, options and topics fit the terminal" {
    fits --help
    fits tune --help
    fits spills --help
    fits help scripts
}

@test "space, lint and pick fit the terminal" {
    fits space transpose.lua
    fits_at 80 lint transpose.lua
    fits pick transpose --set rows=8190 --gpu nvidia-h200 --results "$BATS_TEST_DIRNAME/../../results"
}

@test "a run's tables fit the terminal" {
    fits_at 80 transpose.lua --device sim:sm_90 --budget 6 --quiet
}

@test "inspect, spills and explain fit the terminal" {
    fits_at 80 inspect transpose.lua --over tile_x=32,64 --over pad=0,1 --arch sm_90
    fits_at 80 spills spill.lua --over registers=24,40 --over live=32,64 --shared-spills --arch sm_90
    fits_at 80 explain transpose.lua --config algorithm=tile,pad=0
}

@test "compare, importance and replay fit the terminal" {
    results=$(realpath "$BATS_TEST_DIRNAME/../../results")
    fits_at 80 compare "$results"/nvidia-h200/transpose.json "$results"/nvidia-h100-80gb-hbm3/transpose.json
    fits_at 80 importance "$results"/nvidia-h200/landscapes/dot.json.gz
    fits_at 80 plot "$results"/nvidia-h200/landscapes/dot.json.gz --kind heatmap
}

@test "a file's lines are not broken where programs read them" {
    tool emit transpose.lua --config algorithm=tile
    succeeds
    cp out.txt whole.txt
    COLUMNS=60 tool emit transpose.lua --config algorithm=tile
    cmp out.txt whole.txt
}

@test "COLUMNS is the width of tables in a file, which is 80 without it" {
    tool compare "$BATS_TEST_DIRNAME"/../../results/nvidia-h{200,100-80gb-hbm3}/transpose.json
    [ "$(awk '/^ / { if (length($0) > most) most = length($0) } END { print (most <= 80) }' out.txt)" -eq 1 ]
    COLUMNS=120 tool compare "$BATS_TEST_DIRNAME"/../../results/nvidia-h{200,100-80gb-hbm3}/transpose.json
    says 'rows=8192,cols=8192,dtype=float'
}
