load helpers

# Opens files of the GPU's turns: that of the next run in the queue (7) and of the run that has its turn (8).
open_turns() {
    tool devices --json
    succeeds
    local gpu
    gpu=$(sed -n 's/.*"uuid": "\(.*\)".*/\1/p' out.txt | head -1)
    exec 7>"$AUTOTUNE_TURNS/autotune-$gpu.next" 8>"$AUTOTUNE_TURNS/autotune-$gpu.turn"
}

@test "while another run has its turn, nothing is timed on the GPU" {
    gpu
    needs_the_fake
    open_turns
    flock 8
    "$AUTOTUNE" "$TIMED" --device cuda:0 --budget 5 >out.txt 2>err.txt 7>&- 8>&- &
    pid=$!
    sleep 1
    kill -0 "$pid"
    [ ! -s "$FAKE_CUDA_TIMES" ]
    flock -u 8
    end_run
    succeeds
    [ -s "$FAKE_CUDA_TIMES" ]
}

@test "a run gives the next turn to a waiting run and continues after it" {
    gpu
    needs_the_fake
    open_turns
    write_space few 99
    FAKE_CUDA_TIME_US=2000 start_run 5 7>&- 8>&-
    flock 7
    flock 8
    flock -u 7
    before=$(wc -c <"$FAKE_CUDA_TIMES")
    sleep 0.5
    [ "$(wc -c <"$FAKE_CUDA_TIMES")" -eq "$before" ]
    kill -0 "$pid"
    flock -u 8
    end_run
    succeeds
    [ "$(wc -c <"$FAKE_CUDA_TIMES")" -gt "$before" ]
}

@test "two runs at once on a GPU both find their winner" {
    gpu
    "$AUTOTUNE" "$TIMED" --device cuda:0 --budget 200 --results first >first.txt 2>&1 &
    tool "$TIMED" --device cuda:0 --budget 200 --results second
    succeeds
    wait $!
    [ -s first/*/timed.json ]
    [ -s second/*/timed.json ]
}

@test "if a turn's file is a pipe, the run ends at once and names it" {
    gpu
    needs_the_fake
    open_turns
    exec 7>&- 8>&-
    for file in "$AUTOTUNE_TURNS"/autotune-*.turn "$AUTOTUNE_TURNS"/autotune-*.next; do
        rm "$file"
        mkfifo "$file"
        status=0
        timeout 20 "$AUTOTUNE" "$TIMED" --device cuda:0 --quiet --no-record >out.txt 2>err.txt || status=$?
        errors=$(cat err.txt)
        fails_with 4 "$file is a pipe, not a file that can be locked; remove it"
        rm "$file"
        touch "$file"
    done
}

@test "files in /tmp do not disturb a run" {
    gpu
    needs_the_fake
    open_turns
    exec 7>&- 8>&-
    for file in "$AUTOTUNE_TURNS"/autotune-*.turn "$AUTOTUNE_TURNS"/autotune-*.next; do
        rm "$file"
        mkfifo "$file"
    done
    unset AUTOTUNE_TURNS
    tool "$TIMED" --device cuda:0 --budget 5
    succeeds
}
