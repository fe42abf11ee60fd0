load helpers

# Interrupted calls must be repeated, and files that a killed run leaves must do no harm.

@test "a run is recorded although signals interrupt its opening, flushing and closing of files" {
    gpu
    write_space few 12
    LD_PRELOAD=$TOOLS/interrupted_preload.so tool "$TIMED" --device cuda:0 --quiet
    succeeds
    found_the_best
    recorded
    [ -z "$errors" ] || { echo "$errors"; return 1; }
    LD_PRELOAD=$TOOLS/interrupted_preload.so tool results show timed
    succeeds
    LD_PRELOAD=$TOOLS/interrupted_preload.so tool export timed --format header -o timed.h
    succeeds
    [ -s timed.h ]
    LD_PRELOAD=$TOOLS/interrupted_preload.so tool new mine
    succeeds
    left=$(find "$WORK" -name '*.tmp')
    [ -z "$left" ] || { echo "$left"; return 1; }
}

@test "a run that is killed during its write test leaves no test file" {
    gpu
    write_space few 12
    for nameless in '' WITHOUT_NAMELESS=1; do
        status=0
        env $nameless KILLED_FLUSHING=1 LD_PRELOAD="$TOOLS/interrupted_preload.so" \
            "$AUTOTUNE" "$TIMED" --device cuda:0 --quiet --results results >out.txt 2>err.txt || status=$?
        [ "$status" -eq 137 ] || { echo "not killed: exit $status"; return 1; }
        left=$(find results -type f ! -name .lock)
        [ -z "$left" ] || { echo "$left"; return 1; }
    done
}
