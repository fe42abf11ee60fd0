load helpers

# Tests file systems without locks.

without_locks() {
    export LD_PRELOAD=$TOOLS/no_locks_preload.so
}

@test "a run that cannot lock its results ends before it measures, and names the folder and the remedy" {
    gpu
    without_locks
    write_space few 12
    tool "$TIMED" --device cuda:0 --quiet --results results
    fails_with 4 "cannot lock results/"
    fails_with 4 "use a folder of a local disk"
    [ -z "$(find results -name '*.json')" ]
}

@test "a run that keeps no record needs no locks" {
    gpu
    without_locks
    write_space few 12
    tool "$TIMED" --device cuda:0 --quiet --no-record
    succeeds
    [ ! -e results ] || [ -z "$(find results -name '*.json')" ]
}

@test "--version --verbose says that the folders' file systems have no locks" {
    without_locks
    tool --version --verbose
    succeeds
    says "no locks: records cannot be kept there"
    [[ "$output" != *"locks by flock"* ]]
}
