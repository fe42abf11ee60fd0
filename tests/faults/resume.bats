load helpers
load interruptions

# This test interrupts runs at a dozen moments; resume_long.bats does so at a hundred.
@test "a run that is ended at any moment can be resumed, finds the same winner and measures nothing twice" {
    gpu
    needs_the_fake
    interrupt_everywhere 12 12
}

@test "a run that is ended while its record waits for a lock writes the record when resumed" {
    gpu
    needs_the_fake
    write_space small 12
    measure_run
    # All samples are known, so only the set-up is repeated.
    under_way=0
    FAKE_CUDA_TIME_US=2000 start_run 1 --quiet
    exec 8<results/fake-gpu-0
    flock 8
    for _ in $(seq 600); do
        grep -q '"stage":"record"' "$XDG_STATE_HOME"/autotune/journal/*.jsonl && break
        sleep 0.1
    done
    kill -KILL "$pid"
    end_run
    exec 8<&-
    [ "$status" -eq 137 ]
    [ ! -s results/fake-gpu-0/timed.json ]
    resumes 1
    recorded
}

@test "other options start another race" {
    gpu
    needs_the_fake
    write_space small 12
    measure_run
    run_with_faults -i "$((pieces * 3 / 4)):9"
    ended_by 137
    first=$(race_lines)
    tool "$TIMED" --device cuda:0 --quiet --seed 2
    succeeds
    found_the_best
    [ "$(race_lines)" -ge $((first + answers)) ]
}

# Writes a script whose space is too large to enumerate: eleven parameters of fifty values. Two decide the time.
write_huge_space() {
    cp "$BATS_TEST_DIRNAME"/timed*.tmpl .
    more=$(seq -f 'p%g = at.range(1, 50),' -s ' ' 1 9)
    base=$(seq -f 'p%g = 25' -s ', ' 1 9)
    sum=$(seq -f 'p%g' -s ' + ' 1 9)
    sed -e "s/  space = .*/  space = { a = at.range(1, 30), b = at.range(1, 20), $more },\n  where = { \"a + b + $sum == 275\" },/" \
        -e "s/  baseline = .*/  baseline = { a = 30, b = 20, $base },/" "$BATS_TEST_DIRNAME/timed.lua" >huge.lua
    TIMED=huge.lua
}

# Prints the configurations of the journal, sorted.
tried() {
    cat "$XDG_STATE_HOME"/autotune/journal/*.jsonl | grep -v '"asked"' | grep -o '"configuration":"[^"]*"' | sort -u
}

@test "a resumed run on a sample of a huge space has the same sample and tries the same variants" {
    gpu
    needs_the_fake
    write_huge_space
    run_huge=("$AUTOTUNE" "$TIMED" --device cuda:0 --quiet --strategy random --seed 7 --budget 60)
    "${run_huge[@]}" >out.txt 2>err.txt
    output=$(cat out.txt)
    says 'too large to enumerate'
    tried >whole.txt
    [ "$(wc -l <whole.txt)" -ge 60 ]
    forget
    FAKE_CUDA_TIME_US=2000 "${run_huge[@]}" >out.txt 2>err.txt &
    pid=$!
    wait_for 25 journal_lines
    kill -KILL "$pid"
    end_run
    [ "$status" -eq 137 ]
    "${run_huge[@]}" >out.txt 2>err.txt
    tried | diff whole.txt -
}
