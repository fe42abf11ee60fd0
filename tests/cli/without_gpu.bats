load helpers

no_gpu() { # a driver that cannot be opened, whatever the machine has
    export AUTOTUNE_LIBCUDA=$WORK/no-such-libcuda.so
}

@test "devices says in one line why there is none, and exits 3" {
    no_gpu
    tool devices
    [ "$status" -eq 3 ]
    [ "$(wc -l <err.txt)" -eq 1 ]
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

@test "--arch with a budget compiles that many" {
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

@test "a pattern that cannot be measured says what works on it" {
    tool "$FIXTURES/scale.lua" --arch sm_90 --device cuda:0
    fails_with 2 "--arch compiles without a device"
}

@test "without NVRTC the error names where it was looked for" {
    AUTOTUNE_NVRTC=$WORK/no-such-nvrtc.so tool "$FIXTURES/scale.lua" --arch sm_90
    fails_with 3 "no-such-nvrtc.so"
}

@test "an NVRTC without its builtins is not one that compiles" {
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

@test "a reader that leaves does not stop a run" {
    set -o pipefail
    "$AUTOTUNE" "$FIXTURES/scale.lua" --arch sm_90 --quiet 2>err.txt | true
}

@test "a record of predictions is refused with the reason" {
    no_gpu
    tool "$FIXTURES/scale.lua" --device sim:sm_90 --record
    fails_with 2 "predictions"
    tool "$FIXTURES/scale.lua" --arch sm_90 --record
    fails_with 2 "measures nothing"
    [ ! -e results ]
}

@test "ceilings are of a GPU: without one, or of a simulated device, there are none" {
    no_gpu
    tool ceilings
    fails_with 3 'simulated device, of which they are not known: there is no CUDA driver'
    tool ceilings --device sim:sm_80
    fails_with 3 'sim:sm_80 is a simulated device'
    [ ! -e results ]
}
