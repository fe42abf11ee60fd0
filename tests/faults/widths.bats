load helpers

# On the fake driver, checks that no line is too wide on terminals of 80, 120 and 200 columns.
fits() {
    python3 "$BATS_TEST_DIRNAME/../cli/widths.py" 80,120,200 "$AUTOTUNE" "$@"
}

@test "devices, profile, ceilings, verify and portfolio fit the terminal" {
    gpu
    needs_the_fake
    export AUTOTUNE_LIBCUPTI=${FAKE_CUPTI:?}
    fits devices
    fits profile "$TIMED" --device cuda:0
    small_ceilings
    fits ceilings copy launches --device cuda:0 --quiet
    tool "$TIMED" --device cuda:0 --quiet
    succeeds
    cp "$BATS_TEST_DIRNAME"/timed*.lua "$BATS_TEST_DIRNAME"/timed*.tmpl .
    fits verify --device cuda:0 --quiet
    fits portfolio "$BATS_TEST_DIRNAME"/ranged.lua --device cuda:0 --over rows=16..256 --over cols=16..256 --problems 3 \
        --held-out 1 --finals 6 --quiet
}
