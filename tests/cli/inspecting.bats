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

@test "emit --ptx prints what NVRTC makes of it" {
    tool emit transpose.lua --arch sm_90 --ptx
    succeeds
    says '.target sm_90'
}

@test "a load with a hint stays behind the condition that guards its address" {
    tool emit gather.lua --arch sm_90 --ptx --set n=30012 \
        --config algorithm=windows,block=512,vec=4,items=2,windows=4,load_hint=no_allocate
    succeeds
    [[ "${output%%L1::no_allocate*}" == *nounroll* ]]
}

@test "emit to a full disk fails" {
    tool emit transpose.lua --arch sm_90 -o /dev/full
    fails_with 4 "/dev/full"
}

@test "an unknown parameter of --config names the nearest" {
    tool emit transpose.lua --arch sm_90 --config tile_z=64
    fails_with 2 "tile_"
}

@test "a value that a parameter does not have lists those that it has" {
    tool emit transpose.lua --arch sm_90 --config tile_x=65
    fails_with 2 "64"
}

@test "space counts what is valid and what each constraint removes" {
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
    says 'registers'
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

@test "a sweep over a value that is not there lists the values" {
    tool inspect spill.lua --over live=9 --arch sm_90
    fails_with 2 "is not a value of live"
}

# A product for each of the tiles that matmul fits, its threads and the blocks that its estimate counts on side by side.
@test "of a tile that fits as many blocks find room as its estimate counts on, and none spills" {
    while read -r m n k threads blocks; do
        tool inspect matmul.lua --arch sm_90 --set "m=$m" --set "n=$n" --set "k=$k" --config algorithm=fit --json
        succeeds
        says "\"threads\": $threads,"
        says '"spill_store_bytes": 0,'
        share=$(sed -n 's/.*"occupancy": \([0-9.]*\),.*/\1/p' out.txt)
        awk -v share="$share" -v threads="$threads" -v blocks="$blocks" \
            'BEGIN { exit !(share > 0 && share * 2048 >= threads * blocks) }' ||
            { echo "$m $n $k: occupancy $share, of $blocks blocks of $threads threads"; return 1; }
    done <<'END'
935 133 271 64 10
650 300 842 64 9
141 642 3365 128 5
222 2027 207 128 5
1087 198 128 128 5
1720 2392 136 128 3
1213 2905 189 128 3
1421 1278 1780 128 3
3853 2632 348 128 3
1108 1673 2014 128 2
END
}
