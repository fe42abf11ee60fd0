#!/usr/bin/env bats
# The winner is run on a simulated GPU before it is recorded.

load helpers

setup_file() {
    export BATS_TEST_TIMEOUT=300
}

setup() {
    load ../cli/helpers
    setup
    gpu
    needs_the_fake
    UNGUARDED=$BATS_TEST_DIRNAME/unguarded.lua
}

@test "a finalist that the simulated device rejects as wrong loses the race" {
    "$AUTOTUNE" "$UNGUARDED" --device cuda:0 --quiet --json >out.txt
    grep -q 'out of bounds in timed at .*unguarded.cu.tmpl:8.*after the end of' out.txt
    grep -q '"guarded": true' results/*/unguarded.json
    grep -q '"proven": true' results/*/unguarded.json
}

@test "if all variants are rejected as wrong, nothing is recorded" {
    sed 's/{ true, false }/{ false }/; s/guarded = true, //' "$UNGUARDED" >all.lua
    cp "$BATS_TEST_DIRNAME"/{unguarded,timed_ref}.cu.tmpl .
    status=0
    "$AUTOTUNE" all.lua --device cuda:0 --quiet >out.txt || status=$?
    [ "$status" -eq 1 ]
    [ ! -e results/*/unguarded.json ] || false
    status=0
    "$AUTOTUNE" all.lua --device cuda:0 --quiet --fixed 3 >out.txt || status=$?
    [ "$status" -eq 1 ]
}

@test "--prove all proves every variant" {
    "$AUTOTUNE" "$UNGUARDED" --device cuda:0 --quiet --prove all --json >out.txt
    tr -d ' \n' <out.txt >flat.txt
    grep -q '"wrong_result":4' flat.txt
    grep -q '"ok":4' flat.txt
}

@test "a record says why its configuration is not proven" {
    # No smaller problem satisfies the constraint n >= 1 << 23.
    sed 's/ragged = { n = 4093 }/ragged = false/; s/simulated = .*/where = { "n >= 1 << 23" },/; s/n = 4003/n = 1 << 23/' "$UNGUARDED" >large.lua
    cp "$BATS_TEST_DIRNAME"/{unguarded,timed_ref}.cu.tmpl .
    "$AUTOTUNE" large.lua --device cuda:0 --quiet >out.txt
    grep -q 'proof .*not proven' out.txt
    grep -q '"why": ".*too large' results/*/unguarded.json
}
