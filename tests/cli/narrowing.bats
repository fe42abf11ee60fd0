load helpers

@test "--only leaves no other values of a parameter, for each command that takes a space" {
    cp "$FIXTURES"/scale* .
    tool space scale.lua --arch sm_90 --only block=64,128 --only vec=2 --list
    succeeds
    [ "$(wc -l <out.txt)" -eq 4 ]
    [ "$(grep -c 'block=\(64\|128\),vec=2' out.txt)" -eq 4 ]
    tool tune scale.lua --arch sm_90 --only block=64,128 --only vec=2 --json
    succeeds
    says '"valid": 4'
}

@test "for a misspelt parameter or value of --only, the message names the nearest" {
    tool space transpose.lua --arch sm_90 --only tiel_x=32
    fails_with 2 "did you mean 'tile_x'?"
    tool space transpose.lua --arch sm_90 --only algorithm=tiles
    fails_with 2 "did you mean 'tile'?"
    tool space transpose.lua --arch sm_90 --only tile_x
    fails_with 2 "NAME=V1,V2,..."
}

@test "for an empty space, the message names the --only that caused it" {
    cp "$FIXTURES"/scale* .
    tool space scale.lua --arch sm_90 --only vec=1 --only cached=false
    fails_with 2 "--only cached=false"
}

@test "a configuration is completed to the nearest valid one, which stderr names" {
    tool check transpose.lua --device sim:sm_90 --config algorithm=naive
    succeeds
    [[ "$errors" == *"nearest valid configuration has"* ]]
    tool emit transpose.lua --arch sm_90 --config algorithm=tile
    succeeds
    [[ "$errors" != *"nearest"* ]]
}

@test "if no value of another parameter makes a configuration valid, the broken constraint is named" {
    cp "$FIXTURES"/scale* .
    tool check scale.lua --device sim:sm_90 --config vec=1,cached=false
    fails_with 2 "cached or vec > 1"
}

@test "commands for one variant take a variant of the space that --only leaves" {
    cp "$FIXTURES"/scale* .
    tool emit scale.lua --arch sm_90 --only block=64 --only vec=4
    succeeds
    says "__launch_bounds__(64)"
    [[ "$errors" == *"block=64 vec=4 as well"* ]]
}

@test "values with blanks may be quoted" {
    cp "$FIXTURES"/scale* .
    sed -i "s/cached = { true, false }/cached = { 'yes please', 'no' }/; s/cached or vec > 1/cached ~= 'no' or vec > 1/; s/, cached = true//" scale.lua
    sed -i "s/if cached then/if cached == 'yes please' then/" scale.cu.tmpl
    tool emit scale.lua --arch sm_90 --config "cached='yes please', vec = 2"
    succeeds
    tool space scale.lua --arch sm_90 --list --only 'cached="yes please"' --only vec=1
    succeeds
    [ "$(grep -c 'cached=yes please' out.txt)" -eq "$(wc -l <out.txt)" ]
}

@test "every command that uses a pattern refuses one whose default breaks a constraint" {
    local command
    cp "$FIXTURES"/scale* .
    sed -i 's/vec = 1, cached = true }/vec = 1, cached = false }/' scale.lua
    for command in "check" "check --budget 2" "check --config block=64" "emit" "explain" "profile" "inspect" \
                   "spills --over block=32,64" "space" "space --list" "lint" "tune --arch sm_90" \
                   "tune --device sim:sm_90" "sweep --over n=1K,2K --device sim:sm_90" "export --format json"; do
        tool ${command%% *} scale.lua $([[ $command != *" "* ]] || echo "${command#* }")
        fails_with 2 "scale.lua:19: the baseline (block=256,vec=1,cached=false) breaks where[3]: \"cached or vec > 1\"" ||
            { echo "$command"; return 1; }
    done
    # The baseline breaks the constraint, but --only excludes the baseline.
    tool check scale.lua --device sim:sm_90 --only vec=2,4
    succeeds
}
