load helpers

# What locks protect, where there are none.

without_locks() {
    export LD_PRELOAD=$TOOLS/no_locks_preload.so
}

@test "a run on a file system without locks is recorded, and leaves none behind" {
    gpu
    without_locks
    write_space few 12
    tool "$TIMED" --device cuda:0 --quiet
    succeeds
    found_the_best
    recorded
    left=$(find "$WORK" "$XDG_CACHE_HOME" -name '*.held*')
    [ -z "$left" ] || { echo "$left"; return 1; }
}

@test "runs at once on a file system without locks lose nothing of one another" {
    gpu
    needs_the_fake
    without_locks
    write_space few 12
    pids=()
    for n in 4096 8192 12288 16384; do
        "$AUTOTUNE" "$TIMED" --device cuda:0 --quiet --set n=$n --results results >out.$n 2>err.$n 3>&- &
        pids+=($!)
    done
    for pid in "${pids[@]}"; do
        wait "$pid"
    done
    tool results list --results results --json
    succeeds
    for n in 4096 8192 12288 16384; do
        says "$n"
    done
}

@test "what a killed process held without locks is free again" {
    gpu
    needs_the_fake
    without_locks
    write_space few 12
    tool "$TIMED" --device cuda:0 --quiet
    succeeds
    # A process that ended while it had the lock of the record's folder, the GPU's turn and the journal.
    sleep 1000 &
    gone=$!
    began=$(awk '{ print $22 }' /proc/$gone/stat)
    kill -KILL "$gone"
    wait "$gone" || true
    here="$(cat /proc/sys/kernel/random/boot_id):$(stat -L -c %i /proc/self/ns/pid)"
    for path in results/*/.lock "$AUTOTUNE_TURNS"/autotune-*.turn "$XDG_STATE_HOME"/autotune/journal/*.jsonl; do
        echo "host $(uname -n) here $here process $gone began $began" >"$path.held"
    done
    [ "$(find "$WORK" -name '*.held' | wc -l)" -ge 3 ]
    status=0
    timeout 60 "$AUTOTUNE" "$TIMED" --device cuda:0 --quiet --set n=8192 >out.txt 2>err.txt || status=$?
    errors=$(cat err.txt)
    succeeds
    left=$(find "$WORK" -name '*.held*')
    [ -z "$left" ] || { echo "$left"; return 1; }
}

@test "--version --verbose says that the folders' file systems have no locks" {
    without_locks
    tool --version --verbose
    succeeds
    says "no flock: a lock is a file that is made exclusively"
    [[ "$output" != *"locks by flock"* ]]
}
