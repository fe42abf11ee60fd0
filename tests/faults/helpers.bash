# Runs on the fake driver $FAKE_CUDA, or on the machine's GPU if $FAKE_CUDA is "none". $TOOLS is the folder of
# fault_inject and lose_terminal.

load ../cli/helpers

gpu() {
    : "${FAKE_CUDA:?set FAKE_CUDA to the fake driver}" "${TOOLS:?set TOOLS to the folder of the tools}"
    # The machine's NVML would report other GPUs.
    [ "$FAKE_CUDA" = none ] || export AUTOTUNE_LIBCUDA=$FAKE_CUDA AUTOTUNE_LIBNVML=$WORK/no-such-library.so
    # The preloaded library is loaded before the sanitizer's library.
    export ASAN_OPTIONS=verify_asan_link_order=0
    TIMED=$BATS_TEST_DIRNAME/timed.lua
    export FAKE_CUDA_TIMES=$WORK/times
}

# Starts a run in the background and waits until it has measured COUNT variants.
start_run() { # start_run COUNT [OPTION]...
    count=$1
    shift
    "$AUTOTUNE" "$TIMED" --device cuda:0 "$@" >out.txt 2>err.txt &
    pid=$!
    wait_for "$count" journal_lines
}

wait_for() { # wait_for COUNT COMMAND...: waits until the command prints at least COUNT, or the run in the background ends
    least=$1
    shift
    for _ in $(seq 3000); do
        [ "$("$@")" -ge "$least" ] && return 0
        kill -0 "$pid" 2>/dev/null || { cat err.txt; return 1; }
        sleep 0.05
    done
    return 1
}

# Prints the number of journal lines of variants and of completed runs.
journal_lines() {
    cat "$XDG_STATE_HOME"/autotune/journal/*.jsonl 2>/dev/null | grep -vc '"asked"' || true
}

# Waits for the run in the background. Sets $status to its exit code.
end_run() {
    status=0
    wait "$pid" || status=$?
    output=$(cat out.txt)
    errors=$(cat err.txt)
}

worker_of() { # worker_of PID NAME: prints the process id of a worker
    pgrep -P "$1" -x "$2" | head -n 1
}

needs_the_fake() {
    [ "$FAKE_CUDA" != none ] || skip "what fails here is the fake driver's"
}

recorded() { # checks that there is a record
    [ -s results/*/timed.json ]
}

records() { # records TEXT: checks that the record contains TEXT
    grep -q "$1" results/*/timed.json ||
        { echo "no '$1' in the record: $(head -c 2000 results/*/timed.json)"; return 1; }
}

# Checks that the winner is the best configuration of timed.lua.
found_the_best() {
    says 'best        a=11,b=5' && records '"a": 11'
}

records_nothing_of() { # records_nothing_of TEXT: checks that the record does not contain TEXT
    [ -s results/*/timed.json ] && ! grep "$1" results/*/timed.json
}

# Sets $TIMED to a script of the same pattern with fewer configurations. The best configuration is among them.
write_space() { # write_space NAME COUNT: COUNT is 12, 99 or 600
    case $2 in
    12) a='10, 12' b='4, 7' base='a = 10, b = 4' ;;
    99) a='6, 16' b='1, 9' base='a = 16, b = 9' ;;
    600) a='1, 30' b='1, 20' base='a = 30, b = 20' ;;
    esac
    cp "$BATS_TEST_DIRNAME"/timed*.tmpl .
    sed -e "s/  space = .*/  space = { a = at.range($a), b = at.range($b) },/" \
        -e "s/  baseline = .*/  baseline = { $base },/" "$BATS_TEST_DIRNAME/timed.lua" >"$1.lua"
    TIMED=$1.lua
}

# Runs $TIMED completely. Sets $pieces (sent over its sockets), $samples, $setup (samples of the set-up), and
# $answers (answers of the race in the journal).
measure_run() {
    # The first run fills the compile cache, because kernels that are compiled together have other keys.
    "$AUTOTUNE" "$TIMED" --device cuda:0 --quiet ${asking:-} >out.txt 2>err.txt
    forget
    "$AUTOTUNE" "$TIMED" --device cuda:0 --quiet ${asking:-} --budget 1 --fixed 1 >out.txt 2>err.txt
    setup=$(($(samples_taken) - 1))
    forget
    "$TOOLS/fault_inject" -- "$AUTOTUNE" "$TIMED" --device cuda:0 --quiet ${asking:-} >out.txt 2>err.txt
    pieces=$(sed -n 's/^faults: .* in \([0-9]*\) pieces$/\1/p' err.txt)
    samples=$(samples_taken)
    answers=$(race_lines)
    [ "$pieces" -gt 0 ] && [ "$samples" -gt 0 ] && [ "$answers" -gt 0 ]
    forget
}

# Prints the number of samples that the driver has timed since forget().
samples_taken() {
    stat -c %s "$FAKE_CUDA_TIMES" 2>/dev/null || echo 0
}

race_lines() {
    cat "$XDG_STATE_HOME"/autotune/journal/*.jsonl 2>/dev/null | grep -c '"asked"' || true
}

# Runs $TIMED under fault_inject with these options. Sets $status to the exit code.
run_with_faults() { # run_with_faults OPTION...
    status=0
    "$TOOLS/fault_inject" "$@" -- "$AUTOTUNE" "$TIMED" --device cuda:0 --quiet ${asking:-} >out.txt 2>err.txt ||
        status=$?
}

# Checks the exit code of an interrupted run. The run may also end before the interrupt.
ended_by() { # ended_by CODE
    [ "$status" -eq "$1" ] || [ "$status" -eq 0 ] ||
        { echo "exit $status, not $1: $(tail -n 3 err.txt)"; return 1; }
}

# Runs the same command again, and checks that it succeeds with the right winner and measures no variant twice. The
# total number of samples is at most that of one run, plus the samples in flight ($under_way) and the set-up of each
# of the ENDED runs.
resumes() { # resumes ENDED
    tool "$TIMED" --device cuda:0 --quiet ${asking:-}
    # Inside a condition, bash does not stop at a command that fails.
    succeeds || return 1
    found_the_best || return 1
    twice=$(grep -ho '"key":"[0-9a-f]*"' "$XDG_STATE_HOME"/autotune/journal/*.jsonl | sort | uniq -d)
    [ -z "$twice" ] || { echo "answered twice: $twice"; return 1; }
    total=$(samples_taken)
    most=$((samples + $1 * (setup + under_way)))
    [ "$total" -le "$most" ] || { echo "$total samples, not $most"; return 1; }
}

# Removes records, journals and counts, so that the next run starts from scratch.
forget() {
    rm -rf results "$XDG_STATE_HOME" "$FAKE_CUDA_TIMES"
}

# Copies the tool's files, with a few small ceilings, because the fake driver runs kernels one element at a time.
small_ceilings() {
    cp -r "$(dirname "$AUTOTUNE")/../share/autotune" share
    chmod -R u+w share
    sed -i -e 's/1 << 2[0-9]/1 << 12/' -e 's/1 << 18/1 << 10/' -e '/runs/!s/1 << 16/1 << 7/' \
        -e 's/runs = 1 << 23/runs = 1 << 9/' -e 's/rounds = 4096/rounds = 32/' -e 's/passes = 64/passes = 2/' \
        -e 's/vec = { 1, 2, 4 }/vec = { 4 }/' -e 's/block = {[^}]*}/block = { 128, 256 }/' \
        -e 's/unroll = {[^}]*}/unroll = { 4, 16 }/' -e 's/chains = {[^}]*}/chains = { 4 }/' \
        -e 's/items = { 1[^}]*}/items = { 4 }/' -e 's/hint = {[^}]*}/hint = { "none" }/' \
        -e 's/trips = {[^}]*}/trips = { 1 }/' share/lua/ceilings/*.lua
    export AUTOTUNE_SHARE=$PWD/share
}
