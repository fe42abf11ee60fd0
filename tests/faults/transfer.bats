load helpers

# tests/fake/fake_stream.h describes the times of copies. Pinned memory is four times as fast as pageable memory,
# and a copy takes at least 5 us. Copies in both directions and kernels overlap.

# a part of the space, because the fake driver's kernels are slow
FEW=(--only streams=1,4 --only chunk=0,65536,262144 --only memory=pageable,pinned,write_combined)

tune() { # tune [OPTION]...: tunes the pattern on the fake GPU
    gpu
    needs_the_fake
    tool transfer.lua --device cuda:0 --quiet "${FEW[@]}" "$@"
}

# Checks that the best configuration has these values, in the output and in the record.
best_has() { # best_has NAME=VALUE...
    best=$(sed -n 's/^best  *//p' out.txt)
    for word in "$@"; do
        [[ ",$best," == *",$word,"* ]] || { echo "no $word in the best: $best"; return 1; }
    done
}

@test "the fastest transfer to the device is found and recorded as not proven" {
    tune --set bytes=1M
    succeeds
    best_has memory=write_combined staging=none chunk=0
    says 'not provable: the driver makes the copies'
    record=results/fake-gpu-0/transfer.json
    grep -q '"memory": "write_combined"' "$record"
    grep -q '"proven": false' "$record"
    grep -q "not provable: the driver makes the copies of a transfer, and they are not simulated" "$record"
    # The baseline is one pageable copy, which takes 20 us, plus 1 ns for 6 bytes.
    says '194.76'
    tool export transfer --format header -o transfer.h
    succeeds
    grep -q '"write_combined"' transfer.h
    tool emit transfer.lua --set bytes=1M --best
    succeeds
    says '// transfer to_device: src to dst, 1048576 bytes'
    tool report transfer -o report.html
    succeeds
}

@test "data in memory of malloc() is copied through a staging buffer" {
    tune --set bytes=256K --set direction=to_host --only memory=pageable
    succeeds
    best_has staging=pinned
}

@test "many small arrays are packed" {
    tune --set bytes=256K --set pieces=512 --only memory=pageable,pinned
    succeeds
    best_has staging=write_combined
}

@test "a transfer in both directions is fastest in chunks on alternating streams" {
    tune --set bytes=1M --set direction=both --only memory=pinned
    succeeds
    best=$(sed -n 's/^best  *//p' out.txt)
    [[ "$best" != *chunk=0* && "$best" != *streams=1,* ]] || { echo "$best"; return 1; }
}

@test "a kernel overlaps with copies" {
    tune --set bytes=1M --set rounds=1 --only memory=pinned --only width=4 --only block=256 --only blocks_per_sm=8
    succeeds
    best=$(sed -n 's/^best  *//p' out.txt)
    [[ "$best" != *chunk=0* && "$best" != *streams=1,* ]] || { echo "$best"; return 1; }
}

@test "memory that cannot be pinned is a launch error, and the rest goes on" {
    export FAKE_CUDA_PINNED=500000
    tune --set bytes=1M --only chunk=0 --only memory=pageable,pinned
    succeeds
    best_has memory=pageable staging=none
    says 'launch_error'
}

@test "an interrupted run continues where it was" {
    gpu
    needs_the_fake
    TIMED=transfer.lua
    FAKE_CUDA_TIME_US=50 start_run 4 --set bytes=128K "${FEW[@]}"
    kill -INT "$pid"
    end_run
    [ "$status" -eq 130 ]
    tool transfer.lua --device cuda:0 --quiet --set bytes=128K "${FEW[@]}"
    succeeds
    says '14 ok'
    twice=$(grep -ho '"key":"[0-9a-f]*"' "$XDG_STATE_HOME"/autotune/journal/*.jsonl | sort | uniq -d)
    [ -z "$twice" ] || { echo "answered twice: $twice"; return 1; }
}

@test "a device worker that dies costs only time" {
    gpu
    needs_the_fake
    TIMED=transfer.lua
    FAKE_CUDA_TIME_US=50 start_run 4 --set bytes=128K "${FEW[@]}"
    kill -KILL "$(worker_of "$pid" autotune-device)"
    end_run
    succeeds
    says '14 ok'
}

@test "a sweep over sizes prints the curve" {
    gpu
    needs_the_fake
    tool sweep transfer.lua --device cuda:0 --quiet --over bytes=64K,256K --only memory=pageable,pinned --only chunk=0
    succeeds
    says '64K     7.52'
    says '256K    15'
}

@test "transfers cannot be simulated, proven or explained" {
    tool transfer.lua --device sim:sm_90
    fails_with 3 'transfers are not simulated'
    tool check transfer.lua
    [ "$status" -eq 3 ]
    says 'not provable: the driver makes the copies'
    tool explain transfer.lua
    fails_with 3 'a transfer cannot be explained'
    gpu
    FAKE_CUDA_DEVICES=2 FAKE_CUDA_NAMES='Fake A,Fake A' tool transfer.lua --device all
    fails_with 2 'choose one (--device cuda:0)'
    tool profile transfer.lua --device cuda:0
    fails_with 2 'only kernels have hardware counters'
}

@test "the kernel compiles for old and new chips, and its proof succeeds" {
    for arch in sm_75 sm_120; do
        tool transfer.lua --arch "$arch" --quiet --only memory=mapped --only blocks_per_sm=8 --set rounds=1
        succeeds
        says '6 ok'
    done
    tool check "$FIXTURES/transfer_kernel.lua" --budget 12
    succeeds
    says '12 proven'
}
