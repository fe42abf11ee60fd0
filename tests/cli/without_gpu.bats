load helpers

no_gpu() { # no_gpu: sets the driver to a file that does not exist
    export AUTOTUNE_LIBCUDA=$WORK/no-such-libcuda.so
}

@test "devices says why there is no GPU, and lists the simulated ones" {
    no_gpu
    tool devices
    succeeds
    says "There is no GPU: "
    grep -q '^ *sim:sm_80  *a100  *sm_80 ' out.txt
    grep -q '^ *sim:h100  *h100  *sm_90 ' out.txt
    # Each listed device must be usable.
    tool "$FIXTURES/scale.lua" --device sim:sm_80 --budget 1 --quiet
    succeeds
}

@test "--device cuda:0 without a driver exits 3 and says why" {
    no_gpu
    tool transpose.lua --device cuda:0
    [ "$status" -eq 3 ]
    [[ "$errors" == *libcuda* ]] || [[ "$errors" == *driver* ]]
}

@test "--arch compiles the space and shows resources and occupancy" {
    tool "$FIXTURES/scale.lua" --arch sm_90 --quiet
    succeeds
    says 'registers'
    says 'occupancy'
    [ ! -e results ]
}

@test "--arch with a budget compiles this number of variants" {
    tool transpose.lua --arch sm_90 --budget 20 --strategy random --json --quiet
    succeeds
    says '"ok": 20'
}

@test "the same seed compiles the same variants" {
    tool transpose.lua --arch sm_90 --budget 12 --strategy random --seed 7 --top 12 --quiet
    succeeds
    grep -E 'tile_x=|tile' out.txt | sort >first.txt
    tool transpose.lua --arch sm_90 --budget 12 --strategy random --seed 7 --top 12 --quiet
    grep -E 'tile_x=|tile' out.txt | sort >second.txt
    [ -s first.txt ]
    cmp first.txt second.txt
}

@test "for a pattern that cannot be measured, the message names commands that work" {
    tool "$FIXTURES/scale.lua" --arch sm_90 --device cuda:0
    fails_with 2 "--arch compiles without a device"
}

@test "without NVRTC the error names the searched places" {
    AUTOTUNE_NVRTC=$WORK/no-such-nvrtc.so tool "$FIXTURES/scale.lua" --arch sm_90
    fails_with 3 "no-such-nvrtc.so"
}

@test "an NVRTC without its builtins is not used" {
    AUTOTUNE_NVRTC=${FAKE_NVRTC:?} tool "$FIXTURES/scale.lua" --arch sm_90
    fails_with 3 "libnvrtc-builtins.so.99.9, which it needs, cannot be opened"
}

@test "an interrupt ends the run with 130" {
    "$AUTOTUNE" transpose.lua --arch sm_90 --no-cache --quiet >out.txt 2>err.txt &
    pid=$!
    sleep 1.5
    kill -INT "$pid"
    status=0
    wait "$pid" || status=$?
    [ "$status" -eq 130 ]
}

@test "a reader that closes its pipe does not stop a run" {
    set -o pipefail
    "$AUTOTUNE" "$FIXTURES/scale.lua" --arch sm_90 --quiet 2>err.txt | true
}

@test "recording predictions is refused with the reason" {
    no_gpu
    tool "$FIXTURES/scale.lua" --device sim:sm_90 --record
    fails_with 2 "predictions"
    tool "$FIXTURES/scale.lua" --arch sm_90 --record
    fails_with 2 "measures nothing"
    [ ! -e results ]
}

@test "ceilings need a GPU: they are refused without a GPU and for a simulated device" {
    no_gpu
    tool ceilings
    fails_with 3 'this command measures a GPU, and there is none: there is no CUDA driver'
    tool ceilings --device sim:sm_80
    fails_with 3 'sim:sm_80 is a simulated device'
    [ ! -e results ]
    tool verify --results "$BATS_TEST_DIRNAME/../../results"
    fails_with 3 'recorded winners are raced on the GPU that they were measured on, and there is no CUDA driver'
    tool calibrate
    fails_with 3 'this command measures a GPU, and there is none: there is no CUDA driver'
}

@test "the demo compares naive kernel, unpadded tile and winner, explains the differences, and names next steps" {
    no_gpu
    cmake -D AUTOTUNE="$AUTOTUNE" -D FOLDER="$WORK/records" -P "$BATS_TEST_DIRNAME/../../tuner/cmake/Demo.cmake" >out.txt 2>err.txt
    output=$(cat out.txt)
    says "kernel naive unpadded tile winner"
    # Only the naive kernel writes parts of sectors. Only the tile without padding has bank conflicts.
    grep -qx 'sectors a write  *32.0  *4.0  *4.0' out.txt
    grep -qx 'bank conflicts  *0  *[1-9][0-9]*\(,[0-9]\{3\}\)*  *0' out.txt
    grep -qx 'limited by  *L2  *shared memory  *DRAM' out.txt
    says "all for 8192 x 8192 floats"
    lacks 'conflicts)' out.txt
    says "naive: Line 18 (transpose_naive.tmpl:26) wastes sectors"
    says "Next (autotune is"
    says "autotune new mine "
    [ ! -s err.txt ] || lacks -v '^search\|^$' err.txt
    lacks -E 'CMake (Error|Warning)' out.txt err.txt
}

@test "the demo builds what it runs, and no test" {
    python3 - "$BATS_TEST_DIRNAME/../../CMakePresets.json" <<'END'
import json, sys
presets = json.load(open(sys.argv[1]))
steps = [w["steps"] for w in presets["workflowPresets"] if w["name"] == "demo"][0]
assert [(s["type"], s["name"]) for s in steps] == [("configure", "release"), ("build", "demo")], steps
assert [b["targets"] for b in presets["buildPresets"] if b["name"] == "demo"] == [["demo"]]
END
}
