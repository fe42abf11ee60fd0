load helpers

# Between two readings the board's energy grows by an amount that does not depend on the kernel. A kernel of half
# the time is launched twice as often, so its launch costs half the energy.
@test "--objective energy ranks the finalists by the energy of a launch and records it" {
    gpu
    needs_the_fake
    export AUTOTUNE_LIBNVML=${FAKE_NVML:?} FAKE_NVML_ENERGY_STEP_MJ=100000
    tool "$TIMED" --device cuda:0 --budget 60 --objective energy --json
    succeeds
    records '"objective": "energy"'
    records '"launch_j"'
}

@test "--energy reads the energy of the winner, and time decides the race" {
    gpu
    needs_the_fake
    export AUTOTUNE_LIBNVML=${FAKE_NVML:?} FAKE_NVML_ENERGY_STEP_MJ=100000
    tool "$TIMED" --device cuda:0 --budget 60
    succeeds
    records_nothing_of '"launch_j"'
    tool "$TIMED" --device cuda:0 --budget 60 --energy --seed 2
    succeeds
    records '"objective": "time"'
    records '"launch_j"'
}

@test "if the board does not report energy, the race decides, and a message says so" {
    gpu
    needs_the_fake
    export AUTOTUNE_LIBNVML=$WORK/no-such-library.so
    tool "$TIMED" --device cuda:0 --budget 60 --objective energy
    succeeds
    says 'energy cannot be measured'
    records '"objective": "time"'
}

@test "an objective that does not exist is a usage error" {
    gpu
    tool "$TIMED" --device cuda:0 --objective speed
    fails_with 2 "time or energy"
}

@test "other processes on the GPU are reported, and their energy is not counted for the kernel" {
    gpu
    needs_the_fake
    export AUTOTUNE_LIBNVML=${FAKE_NVML:?} FAKE_NVML_ENERGY_STEP_MJ=100000 FAKE_NVML_PROCESSES=3
    tool "$TIMED" --device cuda:0 --budget 60 --energy
    succeeds
    says '2 other processes computed on this GPU'
    says 'energy cannot be measured: other processes compute on the GPU'
    records_nothing_of '"launch_j"'
    tool "$TIMED" --device cuda:0 --budget 60 --objective energy --seed 2
    succeeds
    says 'ranked by time, since energy cannot be measured: other processes'
}

@test "without other processes on the GPU there is no message" {
    gpu
    needs_the_fake
    export AUTOTUNE_LIBNVML=${FAKE_NVML:?} FAKE_NVML_PROCESSES=1
    tool "$TIMED" --device cuda:0 --budget 60
    succeeds
    says_nothing_of 'other process'
}
