load helpers

# Checks that stdout contains the text. Line breaks count as blanks.
says_words() {
    [[ "$(tr -s ' \n' ' ' <out.txt)" == *"$1"* ]] || { echo "no '$1' in: $output"; return 1; }
}

measured() { # measured NAME...: checks that the output and device.json have these ceilings
    for name in "$@"; do
        says "$name  " || return 1
        jq -e ".ceilings.$name.rate > 0" results/*/device.json >rate.txt || return 1
    done
}

# bats test_tags=long
@test "every ceiling is measured" {
    gpu
    needs_the_fake
    small_ceilings
    tool ceilings --quiet
    succeeds
    measured copy read write l2 l1 shared fp32 fp64 atomics host_to_device device_to_host launches \
        blocks round_trips pieces_read pieces_written one_word one_float one_double
}

@test "ceilings are stored in device.json, and runs print the share of a ceiling" {
    gpu
    needs_the_fake
    small_ceilings
    tool ceilings fp32 fp64 atomics device_to_host launches --quiet
    succeeds
    measured fp32 fp64 atomics device_to_host launches
    says 'a launch'
    says 'kept in     results/fake-gpu-0/device.json'
    jq -e '.schema == "autotune-device" and .gpu == "Fake GPU 0" and .ceilings.fp32.unit == "GFLOP/s" and
           .ceilings.fp32.configuration.chains == 4 and .ceilings.fp64.problem.dtype == "double" and
           .ceilings.atomics.unit == "Gadditions/s" and
           .ceilings.device_to_host.problem.direction == "to_host" and .ceilings.device_to_host.rate > 1' results/*/device.json
    [ "$(ls results/*)" = device.json ]

    sed -e 's/^  traffic = .*/  flops = "4 * n", ceiling = "fp32",/' "$TIMED" >worked.lua
    cp "$BATS_TEST_DIRNAME"/timed*.tmpl .
    tool worked.lua --budget 20 --quiet
    succeeds
    says_words 'the FP32 rate is '
    says 'GFLOP/s  of fp32'
    jq -e '.entries[0] | .ceiling == "fp32" and .ceiling_fraction > 0 and .gflops > 0' results/*/timed.json
    tool report timed -o page.html
    succeeds
    grep -q 'of fp32 %' page.html
    grep -q 'of the FP32 rate' page.html
}

@test "for an unknown ceiling, the command that measures it is named" {
    gpu
    needs_the_fake
    cp "$BATS_TEST_DIRNAME"/timed*.tmpl .
    sed -e 's/^  traffic = .*/  flops = "4 * n",/' "$TIMED" >worked.lua
    tool worked.lua --budget 20 --quiet --stop-at 0.9
    succeeds
    says_words "the FP32 rate is not known here: 'autotune ceilings' measures it"
    says_words '--stop-at had no effect'
    says_nothing_of 'of fp32'
}

@test "a share of a known ceiling ends the search" {
    gpu
    needs_the_fake
    cp "$BATS_TEST_DIRNAME"/timed*.tmpl .
    sed -e 's/^  traffic = .*/  flops = "4 * n",/' "$TIMED" >worked.lua
    mkdir -p results/fake-gpu-0
    # The kernel does 16384 operations in 30 us.
    echo '{"schema": "autotune-device", "version": 1, "gpu": "Fake GPU 0", "ceilings": {"fp32": {"rate": 0.54}}}' \
        >results/fake-gpu-0/device.json
    tool worked.lua --quiet --stop-at 0.9
    succeeds
    says_words 'the requested share of the ceiling was reached'
}

@test "named ceilings are printed as JSON, and with --no-record not stored" {
    gpu
    needs_the_fake
    small_ceilings
    tool ceilings launches --quiet --json --no-record
    succeeds
    jq -e '.device.name == "Fake GPU 0" and (.ceilings | keys == ["launches"]) and .ceilings.launches.rate > 0 and
           .ceilings.launches.unit == "Glaunches/s" and .file == null' out.txt
    [ ! -e results ]
    tool ceilings fp23
    fails_with 2 "did you mean 'fp32'?"
}

@test "a damaged device.json is an error and stays" {
    gpu
    needs_the_fake
    small_ceilings
    mkdir -p results/fake-gpu-0
    echo '{' >results/fake-gpu-0/device.json
    tool ceilings launches --quiet
    fails_with 4 'device.json'
    [ "$(cat results/fake-gpu-0/device.json)" = '{' ]
}
