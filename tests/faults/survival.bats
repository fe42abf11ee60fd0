load helpers

# These runs are short, but long enough to be interrupted.
small() {
    gpu
    write_space small 600
    export FAKE_CUDA_TIME_US=200
}

@test "a device worker killed from outside costs nothing but time" {
    small
    start_run 50 --effort exhaustive
    for lines in 150 250 350; do
        kill -KILL "$(worker_of "$pid" autotune-device)"
        wait_for "$lines" journal_lines
    done
    end_run
    succeeds
    found_the_best
    says '600 ok'
}

@test "compile workers killed from outside cost nothing but time" {
    gpu
    start_run 10 --no-cache --jobs 2
    for lines in 20 30 40 50; do
        kill -KILL "$(worker_of "$pid" at-compile)" || true
        wait_for "$lines" journal_lines
    done
    kill -TERM "$pid"
    end_run
    [ "$status" -eq 130 ]
    [[ "$output" != *crashed* ]]
}

@test "a stopped device worker is replaced" {
    small
    start_run 100
    kill -STOP "$(worker_of "$pid" autotune-device)"
    end_run
    succeeds
    # The variant that was running, if any, has timed out.
    found_the_best
}

@test "SIGTERM ends a run and keeps its measurements, and the next run continues" {
    small
    start_run 100 --effort exhaustive
    kill -TERM "$pid"
    end_run
    [ "$status" -eq 130 ]
    says 'inconclusive'
    recorded
    measured=$(journal_lines)
    tool "$TIMED" --device cuda:0 --effort exhaustive
    succeeds
    found_the_best
    # Every variant must have one line in the journal. The last line says that the run is complete.
    [ "$(journal_lines)" -eq 601 ]
    [ "$measured" -ge 100 ]
}

# The fastest variant is right only if 32 divides n, so only the ragged problem shows that the variant is wrong.
write_faulty() {
    small
    needs_the_fake
    sed -i -e 's/entry = "timed"/entry = "timed_edge"/' \
        -e 's/abs(b - 5))" }/abs(b - 5))", at.uint64 "a == 11 and b == 5 and 0 or 1" }/' "$TIMED"
    sed -i -e 's/^timed(/timed_edge(/; s/time_ns)$/time_ns, unsigned long long whole)/' \
        -e 's/i < n)/i < (whole ? n : n \/ 32 * 32))/' timed.cu.tmpl
}

recorded_no_faulty() {
    tr -d ' \n' <results/fake-gpu-0/timed.json >recorded.txt
    lacks -o '"configuration":{"a":11,"b":5}' recorded.txt
}

@test "an interrupted run does not record a variant that is wrong only on the ragged problem" {
    write_faulty
    start_run 1
    until grep -q '"configuration":"a=11,b=5"' "$XDG_STATE_HOME"/autotune/journal/*.jsonl; do
        kill -0 "$pid"
        sleep 0.02
    done
    kill -TERM "$pid"
    end_run
    [ "$status" -eq 130 ]
    recorded
    recorded_no_faulty
    says '1 wrong_result'
    # The first run checked the variant, so the next run knows the result.
    tool "$TIMED" --device cuda:0
    succeeds
    says '1 wrong_result'
    recorded_no_faulty
    [ "$(cat "$XDG_STATE_HOME"/autotune/journal/*.jsonl | grep '"asked":"ragged"' | grep -c wrong_result)" -eq 1 ]
}

@test "a run that is interrupted before any check on the ragged problem records nothing" {
    small
    needs_the_fake
    FAKE_CUDA_TIME_US=300000 start_run 1
    kill -TERM "$pid"
    end_run
    [ "$status" -eq 130 ]
    says 'no variant is known to be right yet'
    says 'nothing is recorded'
    [ ! -e results/*/timed.json ]
    tool "$TIMED" --device cuda:0
    succeeds
    found_the_best
}

@test "the journal has each of the configurations that share a kernel" {
    gpu
    cp "$BATS_TEST_DIRNAME"/timed*.tmpl .
    sed -e 's/  space = .*/  space = { a = at.range(10, 12), b = at.range(4, 6), idle = { 1, 2 } },/' \
        -e 's/  baseline = .*/  baseline = { a = 10, b = 4, idle = 1 },/' "$TIMED" >twice.lua
    tool twice.lua --device cuda:0
    succeeds
    says '18 ok'
    [ "$(journal_lines)" -eq 19 ]
    tool replay "$XDG_STATE_HOME"/autotune/journal/*.jsonl --strategy random --repeat 2 --json
    succeeds
    says '"configurations": 18'
}

@test "kill -9 loses nothing that was measured" {
    small
    start_run 100 --effort exhaustive
    kill -KILL "$pid"
    end_run
    [ "$status" -eq 137 ]
    tool "$TIMED" --device cuda:0 --effort exhaustive
    succeeds
    found_the_best
    [ "$(journal_lines)" -eq 601 ]
}

@test "workers end when the run is killed" {
    small
    start_run 50
    workers=$(pgrep -P "$pid")
    [ -n "$workers" ]
    kill -KILL "$pid"
    end_run
    for worker in $workers; do
        for _ in $(seq 40); do
            # A process that has ended may remain until its parent waits for it.
            state=$(ps -o stat= -p "$worker" || true)
            [[ -n "$state" && "$state" != Z* ]] || continue 2
            sleep 0.05
        done
        echo "worker $worker is still there: $state"
        return 1
    done
}

@test "a run whose terminal is lost ends and records its winner" {
    small
    status=0
    "$TOOLS/lose_terminal" "best " "$AUTOTUNE" "$TIMED" --device cuda:0 || status=$?
    [ "$status" -eq 130 ]
    recorded
}

@test "a closed stdout and stderr lose no record" {
    gpu
    write_space few 99
    status=0
    "$AUTOTUNE" "$TIMED" --device cuda:0 >&- 2>&- || status=$?
    [ "$status" -lt 128 ]
    recorded
}

@test "a full stdout is an error that loses no record" {
    gpu
    write_space few 99
    status=0
    "$AUTOTUNE" "$TIMED" --device cuda:0 >/dev/full 2>err.txt || status=$?
    [ "$status" -eq 4 ]
    recorded
}

@test "a results folder that cannot be written is an error before anything is measured" {
    gpu
    echo "a file" >results
    tool "$TIMED" --device cuda:0
    fails_with 4 "results"
    [ "$(journal_lines)" -eq 0 ]
}

@test "a device that is lost for good ends the run with the best variant so far" {
    small
    needs_the_fake
    export FAKE_CUDA_GONE=$WORK/gone
    start_run 200 --effort exhaustive
    touch "$FAKE_CUDA_GONE"
    kill -KILL "$(worker_of "$pid" autotune-device)"
    end_run
    [ "$status" -eq 3 ]
    says 'best        a='
    recorded
}

@test "of two runs on one results folder, the better result is in the record" {
    small
    "$AUTOTUNE" "$TIMED" --device cuda:0 --strategy random --seed 1 >first.txt 2>&1 &
    first=$!
    tool "$TIMED" --device cuda:0 --strategy random --seed 2
    succeeds
    wait "$first"
    found_the_best
    grep -q 'best        a=11,b=5' first.txt
}

@test "if files may not grow, every command that records names the limit and loses nothing" {
    gpu
    needs_the_fake
    cp "$BATS_TEST_DIRNAME"/timed* .
    tool timed.lua --device cuda:0 --quiet --only a=11,12 --only b=5,6
    succeeds
    cp -r results other
    sed -i 's/"date": "20/"date": "21/' other/*/timed.json
    before=$(cat results/*/timed.json)
    while read -r line; do
        # shellcheck disable=SC2086 # words are arguments
        { (ulimit -f 0 && exec "$AUTOTUNE" $line) || echo "exit $?" >&2; } 2>&1 >/dev/null | cat >err.txt
        grep -q 'exit 4' err.txt || { echo "$line: $(cat err.txt)"; return 1; }
        grep -qE 'cannot write [^ ]*results.*ulimit -f' err.txt || { echo "$line: $(cat err.txt)"; return 1; }
        [ "$(cat results/*/timed.json)" = "$before" ]
        [ "$(find . -name '*.tmp' | wc -l)" -eq 0 ]
    done <<END
timed.lua --device cuda:0
sweep timed.lua --over n=4096,8192 --device cuda:0
portfolio $BATS_TEST_DIRNAME/ranged.lua --device cuda:0 --over rows=16..256 --over cols=16..256
results merge other
ceilings launches --device cuda:0
END
    # Commands that record nothing work without a journal.
    for line in "verify timed --device cuda:0" "check timed.lua"; do
        # shellcheck disable=SC2086 # words are arguments
        { (ulimit -f 0 && exec "$AUTOTUNE" $line) || echo "exit $?"; } 2>&1 | cat >out.txt
        ! grep -q 'exit' out.txt || { echo "$line: $(cat out.txt)"; return 1; }
    done
}
