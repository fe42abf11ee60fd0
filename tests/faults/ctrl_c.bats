load helpers

# A command must end within a second after Ctrl-C. The tests wait up to 10 s, because the machine may be busy.
# Without Ctrl-C the commands would run longer than this.
ENDED_S=10

RESULTS="$BATS_TEST_DIRNAME/../../results"

ended() { # ended PID: checks that the process ended because of the interrupt
    for _ in $(seq $((ENDED_S * 20))); do
        kill -0 "$1" 2>/dev/null || break
        sleep 0.05
    done
    ! kill -KILL "$1" 2>/dev/null || { echo "not ended $ENDED_S s after the interrupt"; return 1; }
    status=0
    wait "$1" || status=$?
    [ "$status" -eq 130 ] || { echo "exit $status"; return 1; }
}

# Writes a script whose space is enumerated at once for n = 4096, and up to the time limit for other problems: the
# constraint is on a sum of ten parameters and needs the last of them. The valid configurations do not fill memory.
write_late() {
    cp "$BATS_TEST_DIRNAME"/timed*.tmpl .
    python3 - "$BATS_TEST_DIRNAME/timed.lua" >late.lua <<'PY'
import sys
text = open(sys.argv[1]).read()
last = {"p%d" % i: 9 if i < 9 else 8 for i in range(10)}
text = text.replace("space = {", "space = {" + "".join(" %s = at.range(0, 9)," % p for p in last))
text = text.replace("baseline = {", "baseline = {" + "".join(" %s = %d," % pair for pair in last.items()))
where = ['"n ~= 4096 or %s == %d"' % pair for pair in last.items()]
where += ['"n == 4096 or %s == 89"' % " + ".join(last)]
print(text.replace("  buffers", "  where = { %s },\n\n  buffers" % ", ".join(where)))
PY
}

# Prints commands that take at least half a minute on this machine.
slow_commands() {
    cat <<END
$TIMED --device cuda:0
transfer.lua --device cuda:0
portfolio $BATS_TEST_DIRNAME/ranged.lua --device cuda:0 --over rows=16..256 --over cols=16..256
profile $TIMED --device cuda:0
ceilings --device cuda:0
verify timed --device cuda:0
compare $WORK/results/fake-gpu-0/timed.json $WORK/results/fake-gpu-0/timed.json --race --device cuda:0
check transpose.lua --budget 1000000 --jobs 1
spills spill.lua --arch sm_80,sm_90,sm_100 --whole --no-cache --jobs 1
inspect spill.lua --over live --over max_registers --arch sm_80,sm_90,sm_100 --no-cache --jobs 1
replay $RESULTS/nvidia-h200/landscapes/transpose.json.gz --strategy random --repeat 100000
space $WORK/late.lua --set n=8192
lint $WORK/late.lua
$WORK/late.lua --set n=8192 --arch sm_90
plot $RESULTS/nvidia-h200/landscapes/dot.json.gz -o out.svg
report --results $RESULTS -o out.svg
END
}

@test "every long command ends by Ctrl-C and leaves no half-written file" {
    gpu
    needs_the_fake
    export AUTOTUNE_LIBCUPTI=${FAKE_CUPTI:?}
    write_late
    cp "$BATS_TEST_DIRNAME/timed.lua" .
    tool timed.lua --device cuda:0 --quiet --only a=11,12 --only b=5,6
    succeeds
    # A gnuplot that runs as long as the tuner.
    mkdir bin
    printf '#!/bin/sh\nexec tail --pid=$PPID -f /dev/null\n' >bin/gnuplot
    chmod +x bin/gnuplot
    # A launch takes two seconds.
    export FAKE_CUDA_TIME_US=2000000
    pids=() lines=()
    while read -r line; do
        # shellcheck disable=SC2086 # words are arguments
        PATH=$WORK/bin:$PATH "$AUTOTUNE" $line >out.${#pids[@]} 2>err.${#pids[@]} 3>&- &
        pids+=($!) lines+=("$line")
    done < <(slow_commands)
    sleep 3
    for i in "${!pids[@]}"; do
        kill -INT "${pids[i]}" || { echo "ended before: ${lines[i]}: $(tail -n 3 out.$i err.$i)"; return 1; }
    done
    for i in "${!pids[@]}"; do
        ended "${pids[i]}" || { echo "${lines[i]}: $(tail -n 3 err.$i)"; return 1; }
    done
    left=$(find . -name '*.tmp' -o -name out.svg)
    [ -z "$left" ] || { echo "left behind: $left"; return 1; }
}

@test "a sweep can be interrupted at later points" {
    gpu
    needs_the_fake
    write_late
    "$AUTOTUNE" sweep late.lua --over n=4096,8192 --device cuda:0 --only a=11 --only b=5 >out.txt 2>err.txt 3>&- &
    pid=$!
    for _ in $(seq 600); do
        ! grep -q '^2 of 2' err.txt || break
        sleep 0.05
    done
    sleep 1
    kill -INT "$pid"
    ended "$pid"
    # The results before the interrupt are printed.
    grep -q '4096' out.txt
}
