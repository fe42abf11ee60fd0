load helpers

@test "spills finds the register limit at which a kernel begins to spill, with a tenth of the compilations" {
    tool spills spill.lua --config live=32 --over 'registers=24,...,63' --arch sm_80,sm_90
    succeeds
    says 'sm_80: spills end at registers='
    says 'sm_90: spills end at registers='
}

@test "spills can vary a parameter of the pattern" {
    tool spills spill.lua --config max_registers=32 --over 'live=8,...,40' --arch sm_90 --json
    succeeds
    says '"kind": "rises"'
    says '"axis": "live"'
}

@test "spills to shared memory are shown beside spills to local memory, with predicted times" {
    tool spills spill.lua --config live=32 --over registers=32,40 --shared-spills --device sim:sm_90
    succeeds
    says '| local'
    says 'the fastest that spills'
}

@test "points without a variant are counted, with the constraint that they break" {
    tool spills "$FIXTURES/scale.lua" --config cached=false,vec=2 --over vec=1,2,4 --arch sm_90
    succeeds
    says 'no spills along vec'
    line=$(grep -n 'cached or vec' "$FIXTURES/scale.lua" | cut -d: -f1)
    says "1 of the line's points breaks the constraint of line $line: cached or vec > 1"
}

@test "spills says if it shows the default, and how to select other configurations" {
    tool spills spill.lua --arch sm_90
    succeeds
    says 'the compiler goes no lower than '
    says 'stored, loaded: bytes of registers'
    tool spills "$FIXTURES/scale.lua" --arch sm_90
    says "That is the script's default configuration: --config names another"
    says "'autotune scale --arch sm_90' compiles the whole space"
}

@test "an impossible register limit is refused" {
    tool spills spill.lua --over registers=8 --arch sm_90
    fails_with 2 'from 16 to 255'
}

@test "a register limit in --config is refused, because it belongs to --over" {
    tool spills spill.lua --over live=32 --config block=256,registers=64 --arch sm_90
    fails_with 2 '--over registers=64'
}
