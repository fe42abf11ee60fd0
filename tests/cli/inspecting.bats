load helpers

@test "emit prints CUDA source with #line back to the template" {
    tool emit transpose.lua --arch sm_90
    succeeds
    says '__global__'
    says '#line'
}

@test "emit --no-line leaves the directives out" {
    tool emit transpose.lua --arch sm_90 --no-line
    succeeds
    [[ "$output" != *'#line'* ]]
}

@test "emit --ptx prints NVRTC's PTX" {
    tool emit transpose.lua --arch sm_90 --ptx
    succeeds
    says '.target sm_90'
}

@test "a load with a hint stays after the condition that guards its address" {
    tool emit gather.lua --arch sm_90 --ptx --set n=30012 \
        --config algorithm=windows,block=512,vec=4,items=2,windows=4,load_hint=no_allocate
    succeeds
    [[ "${output%%L1::no_allocate*}" == *nounroll* ]]
}

@test "emit prints the compiler options of the source, including those of the script" {
    tool emit transpose.lua --arch sm_80
    succeeds
    [ "$(head -1 out.txt)" = "// options for NVRTC and nvcc: --gpu-architecture=sm_80" ]
    cp "$FIXTURES"/scale* .
    sed -i 's/entry = "scale",/& options = { "-use_fast_math" },/' scale.lua
    tool emit scale.lua
    succeeds
    [[ "$(head -1 out.txt)" == "// options for NVRTC and nvcc: --gpu-architecture=sm_"*" -use_fast_math" ]]
}

@test "emit to a full disk fails" {
    tool emit transpose.lua --arch sm_90 -o /dev/full
    fails_with 4 "/dev/full"
}

@test "for an unknown parameter of --config, the message names the nearest" {
    tool emit transpose.lua --arch sm_90 --config tile_z=64
    fails_with 2 "tile_"
}

@test "for an invalid value of a parameter, the message lists the valid values" {
    tool emit transpose.lua --arch sm_90 --config tile_x=65
    fails_with 2 "64"
}

@test "space counts valid configurations and those that each constraint removes" {
    tool space transpose.lua --arch sm_90 --json
    succeeds
    valid=$(grep -o '"valid": [0-9]*' out.txt | grep -o '[0-9]*')
    [ "$valid" -ge 2000 ]
    says '"removed"'
    tool space transpose.lua --arch sm_90 --list
    succeeds
    [ "$(wc -l <out.txt)" -eq "$valid" ]
    [ "$(sort -u out.txt | wc -l)" -eq "$valid" ]
}

@test "inspect shows resources on several architectures" {
    tool inspect transpose.lua --arch sm_80,sm_90
    succeeds
    says 'sm_80'
    says 'sm_90'
    says 'regs'
}

@test "inspect names the value at which spilling starts" {
    tool inspect spill.lua --over 'live=8,16,...,96' --config max_registers=64 --arch sm_80,sm_90
    succeeds
    says 'sm_80: spills begin at live='
    says 'sm_90: spills begin at live='
}

@test "inspect --json has a row for each value of the sweep" {
    tool inspect spill.lua --over live=8,16 --over max_registers=32,64 --arch sm_90 --json
    succeeds
    [ "$(grep -c '"spill_store_bytes"' out.txt)" -eq 4 ]
}

@test "for a sweep over an invalid value, the message lists the valid values" {
    tool inspect spill.lua --over live=9 --arch sm_90
    fails_with 2 "is not a value of live"
    tool inspect spill.lua --arch sm_90 --over live=8..32
    fails_with 2 "--over live: '8..32' is not a value; for a range, write 8,...,32"
}

@test "messages of scripts in another encoding are shown, with question marks for their letters" {
    cp "$FIXTURES"/scale*.tmpl .
    sed "s/summary = \"/summary = \"caf\xe9 /; s/where = {/where = { \"vec ~= 'caf\xe9'\",/" "$FIXTURES/scale.lua" >latin.lua
    LC_ALL=C grep -qP 'caf\xe9' latin.lua
    for command in space inspect lint; do
        tool $command latin.lua --arch sm_90
        succeeds
    done
    tool space latin.lua --arch sm_90
    says "vec ~= 'caf?'"
    tool space latin.lua --arch sm_90 --json
    succeeds
    python3 -c 'import json; json.load(open("out.txt"))'
}
