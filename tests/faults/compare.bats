load helpers

@test "records, runs and journals are compared with each other, and a slower one gives exit code 1" {
    gpu
    needs_the_fake
    for run in fast slow; do
        [ $run = fast ] && only=(--only a=11 --only b=5,6) || only=(--only a=14 --only b=5,6)
        tool "$TIMED" --device cuda:0 "${only[@]}" --results $run --json --top 1000000 --quiet
        succeeds
        cp out.txt $run.run
        cp $run/*/timed.json $run.record
        cp "$(ls -t "$XDG_STATE_HOME"/autotune/journal/*.jsonl | head -1)" $run.journal
        rm -r "$XDG_STATE_HOME"
    done
    for a in record run journal; do
        for b in record run journal; do
            tool compare fast.$a fast.$b --fail-on slower
            succeeds
            says SAME
            tool compare fast.$a slow.$b --fail-on slower
            [ "$status" -eq 6 ] || { echo "$a, $b: exit $status: $output $errors"; return 1; }
            says SLOWER
            tool compare slow.$a fast.$b --fail-on slower
            succeeds
            says FASTER
        done
    done
}

@test "of 12 pairs on one device, no equal pair is called slower, and all pairs that differ by 1 percent are" {
    gpu
    needs_the_fake
    "$BATS_TEST_DIRNAME"/../bench/compare_gpu.sh "$(dirname "$AUTOTUNE")/.." 12 >out.txt
    grep -q '^| itself | 0 | 12 | 0 | 0 |.* yes |' out.txt
    grep -q '^| itself, 1 % slower | 12 | 0 | 0 | 0 |.* yes |' out.txt
}
