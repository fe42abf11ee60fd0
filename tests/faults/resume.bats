load helpers
load interruptions

# What is interrupted here at a dozen moments resume_long.bats interrupts at a hundred.
@test "a run that ends at any moment goes on to the same winner and measures nothing twice" {
    gpu
    needs_the_fake
    interrupt_everywhere 12 12
}

@test "a run whose record waits for a lock is ended there and goes on to write it" {
    gpu
    needs_the_fake
    write_space small 12
    measure_run
    # All that was sampled is known: the set-up alone is done again.
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

@test "other options are another race" {
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
