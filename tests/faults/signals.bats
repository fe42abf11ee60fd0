load helpers

# Tests signals from other programs, and process states that a run inherits from its parent.

# Starts the command in its own process group. Before, PYTHON changes the state that the command inherits.
start_after() { # start_after PYTHON COMMAND...
    python3 -c "import os, signal, sys
$1
os.setpgid(0, 0)
os.execv(sys.argv[1], sys.argv[1:])" "${@:2}" >out.txt 2>err.txt 3>&- &
    pid=$!
}

start_slow() { # start_slow PYTHON [COUNT]: starts a slow run and waits until it has measured COUNT variants
    write_space some "${2:-99}"
    FAKE_CUDA_TIME_US=5000 start_after "$1" "$AUTOTUNE" "$TIMED" --device cuda:0 --effort exhaustive --quiet
    wait_for 5 journal_lines
}

# Checks that the run ended by an interrupt and named the journal, and that the same command continues the run.
ended_with_its_word() {
    end_run
    [ "$status" -eq 130 ] || { echo "exit $status: $errors"; return 1; }
    [[ "$errors" == *"the measurements so far are kept"* ]] || { echo "$errors"; return 1; }
    before=$(journal_lines)
    unset FAKE_CUDA_TIME_US
    tool "$TIMED" --device cuda:0 --quiet
    succeeds && found_the_best
    twice=$(grep -ho '"key":"[0-9a-f]*"' "$XDG_STATE_HOME"/autotune/journal/*.jsonl | sort | uniq -d)
    [ -z "$twice" ] && [ "$before" -ge 5 ]
}

@test "signals with which other programs end or warn a program act like an interrupt" {
    gpu
    needs_the_fake
    for name in USR1 USR2 ALRM XCPU VTALRM PROF IO PWR TERM; do
        start_slow ""
        kill -"$name" "$pid"
        ended_with_its_word || { echo "$name"; return 1; }
        forget
    done
}

@test "a signal for the whole group ends the run and loses no worker" {
    gpu
    needs_the_fake
    start_slow ""
    kill -USR1 -- "-$pid"
    ended_with_its_word
    says_nothing_of crashed
}

@test "an inherited timer ends a run once, with its messages" {
    gpu
    needs_the_fake
    start_slow "signal.setitimer(signal.ITIMER_REAL, 5, 0.001)" 600
    ended_with_its_word
}

@test "a run works although its parent ignores SIGCHLD or blocks signals" {
    gpu
    needs_the_fake
    write_space few 12
    start_after "signal.signal(signal.SIGCHLD, signal.SIG_IGN)" "$AUTOTUNE" "$TIMED" --device cuda:0 --effort exhaustive --quiet
    end_run
    succeeds
    found_the_best
    forget
    start_slow "signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))"
    kill -TERM "$pid"
    ended_with_its_word
}

@test "a run that was started with SIGHUP ignored continues after a hangup" {
    gpu
    needs_the_fake
    write_space few 12
    FAKE_CUDA_TIME_US=2000 start_after "signal.signal(signal.SIGHUP, signal.SIG_IGN)" \
        "$AUTOTUNE" "$TIMED" --device cuda:0 --effort exhaustive --quiet
    wait_for 2 journal_lines
    kill -HUP -- "-$pid"
    end_run
    succeeds
    found_the_best
}

@test "a command without results to store ends at once, and says so" {
    start_after "" "$AUTOTUNE" replay "$BATS_TEST_DIRNAME/../../results/nvidia-h200/landscapes/transpose.json.gz" \
        --repeat 100000
    # On a busy machine the child process takes a while until it executes the program.
    for ((i = 0; i < 500; i++)); do
        [ "$(cat "/proc/$pid/comm")" = autotune ] && break
        sleep 0.02
    done
    sleep 1
    kill -USR1 "$pid"
    end_run
    [ "$status" -eq 130 ]
    [[ "$errors" == *"interrupted"* ]]
}
