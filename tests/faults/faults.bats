load helpers

# Up to a thousand faults are injected: a frame of every 90 sent pieces is corrupted, a worker is killed for every
# 150 pieces, and a fifth of the disk writes is refused. They begin after 500 pieces, because a fault before the
# first measurement may end the run.
@test "after a thousand faults the winner is right and the journal complete" {
    gpu
    export XDG_CACHE_HOME=$WORK/cache
    status=0
    # The output goes to a pipe, because writes to a pipe are not refused.
    { "$TOOLS/fault_inject" -s 1 -d 500 -k 300:150 -f 500:90 -w 200:5 -- \
        "$AUTOTUNE" "$TIMED" --device cuda:0 --effort exhaustive 2>&3 || echo "exit $?"; } 3>&1 | cat >out.txt
    output=$(cat out.txt)
    [[ "$output" != *"exit "* ]] || { tail -n 5 out.txt; return 1; }
    says 'faults: 300 kills, 500 frames, 200 writes'
    found_the_best
    # Every line must be complete, and every variant must have one line.
    while read -r line; do
        [[ "$line" == '{'*'"check":"'*'"}' ]] || { echo "no line of a journal: $line"; return 1; }
    done < <(cat "$XDG_STATE_HOME"/autotune/journal/*.jsonl)
    [ "$(journal_lines)" -eq 3001 ]
}
