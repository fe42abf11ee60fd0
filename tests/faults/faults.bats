load helpers

# A frame is corrupted for every 90 pieces sent, a worker is killed for every 150, and a fifth of the disk writes is
# refused, up to a thousand faults. They begin once the run is under way, because a fault before the first measurement
# may end it.
@test "a thousand faults leave the right winner and a whole journal" {
    gpu
    export XDG_CACHE_HOME=$WORK/cache
    status=0
    # A pipe accepts writes that a disk refuses.
    { "$TOOLS/fault_inject" -s 1 -d 500 -k 300:150 -f 500:90 -w 200:5 -- \
        "$AUTOTUNE" "$TIMED" --device cuda:0 --effort exhaustive 2>&3 || echo "exit $?"; } 3>&1 | cat >out.txt
    output=$(cat out.txt)
    [[ "$output" != *"exit "* ]] || { tail -n 5 out.txt; return 1; }
    says 'faults: 300 kills, 500 frames, 200 writes'
    found_the_best
    # Every line is complete, and every variant has one line.
    while read -r line; do
        [[ "$line" == '{'*'"check":"'*'"}' ]] || { echo "no line of a journal: $line"; return 1; }
    done < <(cat "$XDG_STATE_HOME"/autotune/journal/*.jsonl)
    [ "$(journal_lines)" -eq 3001 ]
}
