load helpers

# Writes a pattern of twenty parameters. The only constraint is on their sum, so it can be tested only when the last
# parameter has a value. Counting the space visits 10^20 points.
late_binding() {
    cat >late.lua <<'LUA'
local at = require "autotune"
local space, baseline, sum = {}, {}, {}
for i = 1, 20 do
  space["p" .. i], baseline["p" .. i], sum[i] = at.range(0, 9), 5, "p" .. i
end
return at.pattern {
  name = "late", problem = { n = 1024 }, space = space, baseline = baseline,
  where = { table.concat(sum, " + ") .. " == 100" },
  kernel = { template = "late.cu.tmpl" }, launch = { grid = 1, block = 32 },
}
LUA
    printf 'extern "C" __global__ void late() {}\n// ${p1}\n' >late.cu.tmpl
}

interrupted() { # interrupted ARGUMENT...: interrupts the run after a second and checks that the run ends
    "$AUTOTUNE" "$@" >out.txt 2>err.txt &
    pid=$!
    sleep 1
    kill -INT "$pid"
    for _ in $(seq 100); do
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.1
    done
    ! kill -KILL "$pid" 2>/dev/null || { echo "not ended 10 s after the interrupt"; return 1; }
    status=0
    wait "$pid" || status=$?
    [ "$status" -eq 130 ] || { echo "exit $status: $(cat err.txt)"; return 1; }
}

@test "an interrupt ends the enumeration of a space" {
    late_binding
    interrupted space late.lua
    interrupted late.lua --arch sm_90
}

@test "an interrupt ends a script with an endless pattern match" {
    echo 'while true do ("a"):rep(1 << 12):find(".-.-b") end' >endless.lua
    "$AUTOTUNE" space endless.lua 2>err.txt &
    pid=$!
    sleep 0.3
    kill -INT "$pid"
    status=0
    wait "$pid" || status=$?
    [ "$status" -eq 130 ]
}

@test "a budget in seconds also limits the enumeration of a space, and the output says that the space was sampled" {
    late_binding
    tool late.lua --arch sm_90 --budget 6s --quiet # in less time, nothing would be compiled on a busy machine
    succeeds
    says 'that were sampled'
    says '(2^64 or more in the full product)'
    says 'too large to enumerate'
}

@test "a reader that closes its pipe ends the list of a space" {
    cat >large.lua <<'LUA'
local at = require "autotune"
return at.pattern {
  name = "large", problem = { n = 1024 }, baseline = { a = 1, b = 1, c = 1 },
  space = { a = at.range(1, 400), b = at.range(1, 400), c = at.range(1, 400) },
  kernel = { template = "large.cu.tmpl" }, launch = { grid = 1, block = 32 },
}
LUA
    printf 'extern "C" __global__ void large() {}\n' >large.cu.tmpl
    { timeout 20 "$AUTOTUNE" space large.lua --list 2>err.txt; echo $? >status.txt; } | head -1 >out.txt
    [ "$(cat status.txt)" -eq 0 ]
    [ "$(cat out.txt)" = "a=1,b=1,c=1" ]
}

@test "values are shortened so that lines of different configurations differ" {
    cat >long.lua <<'LUA'
local at = require "autotune"
local x = ("x"):rep(200)
local space, baseline = { last = { 1, 2 } }, { last = 1 }
for i = 1, 15 do space["p" .. i], baseline["p" .. i] = { x }, x end
return at.pattern {
  name = "long", problem = { n = 1024 }, space = space, baseline = baseline,
  kernel = { template = "long.cu.tmpl" }, launch = { grid = 1, block = 32 },
}
LUA
    printf 'extern "C" __global__ void long_() {}\n' >long.cu.tmpl
    tool space long.lua --list
    succeeds
    [ "$(sort -u out.txt | wc -l)" -eq 2 ]
}

@test "if no sockets can be made, the message has the remedy" {
    while read -r line; do
        status=0
        # shellcheck disable=SC2086 # words are arguments
        (ulimit -n 4 && exec "$AUTOTUNE" $line) >out.txt 2>err.txt 3>&- 4>&- || status=$?
        errors=$(cat err.txt)
        fails_with 4 "raise the limit of open files (ulimit -n)" || { echo "$line"; return 1; }
    done <<END
$FIXTURES/scale.lua
$FIXTURES/scale.lua --arch sm_90
emit $FIXTURES/scale.lua --ptx
inspect $FIXTURES/scale.lua --arch sm_90
explain $FIXTURES/scale.lua
END
}

# Runs a command that cannot start processes. The limit does not apply to root, so a run as root uses another user.
without_processes() { # without_processes COMMAND...
    # The sanitizer's leak checker would start a process.
    export ASAN_OPTIONS=detect_leaks=0
    if [ "$(id -u)" -eq 0 ]; then
        command -v setpriv >/dev/null || skip "root needs setpriv to be held to a limit of processes"
        chmod 777 "$WORK"
        XDG_CACHE_HOME=$WORK/cache setpriv --reuid=54321 --regid=54321 --clear-groups prlimit --nproc=1 "$@"
    else
        (ulimit -u 1 && exec "$@")
    fi
}

@test "if no processes can be started, the message has the remedy" {
    while read -r line; do
        status=0
        # shellcheck disable=SC2086 # words are arguments
        without_processes "$AUTOTUNE" $line >out.txt 2>err.txt || status=$?
        errors=$(cat err.txt)
        # The other user may not be allowed to enter the folder of the program.
        [ "$status" -lt 126 ] || skip "the program cannot be run by another user"
        fails_with 4 "raise the limit of processes (ulimit -u, or pids.max of the cgroup)" || { echo "$line"; return 1; }
    done <<END
transpose.lua
transpose.lua --arch sm_90
emit transpose.lua --ptx
inspect transpose.lua --arch sm_90
explain transpose.lua
check transpose.lua
spills spill.lua --arch sm_90
devices
END
}

@test "pipes in place of files are refused and not waited for" {
    mkfifo pipe.lua
    status=0
    timeout 20 "$AUTOTUNE" space ./pipe.lua 2>err.txt || status=$?
    [ "$status" -eq 2 ]
    for arguments in "replay pipe.lua" "convert pipe.lua --format t4" \
        "$FIXTURES/scale.lua --arch sm_90 --warm-start pipe.lua"; do
        status=0
        # shellcheck disable=SC2086 # words are arguments
        timeout 20 "$AUTOTUNE" $arguments >out.txt 2>err.txt || status=$?
        errors=$(cat err.txt)
        fails_with 4 "device or pipe, not a file" || { echo "$arguments"; return 1; }
    done
}

@test "a limit on the size of files gives an error and no signal" {
    status=0
    (ulimit -f 0 && exec "$AUTOTUNE" emit "$FIXTURES/scale.lua" -o out.cu 2>/dev/null) || status=$?
    [ "$status" -eq 4 ]
    status=0
    export AUTOTUNE_LIBCUDA=$WORK/no-such-libcuda.so XDG_CACHE_HOME=$WORK/fresh
    { (ulimit -f 0 && "$AUTOTUNE" "$FIXTURES/scale.lua" --budget 2) || echo "exit $?"; } 2>&1 | cat >out.txt
    output=$(cat out.txt)
    says 'tried of'
    says_nothing_of 'helper kernels'
    says_nothing_of 'exit'
}

@test "an interrupted simulated run does not mention a journal" {
    export AUTOTUNE_LIBCUDA=$WORK/no-such-libcuda.so
    "$AUTOTUNE" transpose.lua --strategy random >out.txt 2>err.txt &
    pid=$!
    for _ in $(seq 300); do
        ! grep -q best err.txt || break
        sleep 0.1
    done
    kill -INT "$pid"
    status=0
    wait "$pid" || status=$?
    output=$(cat out.txt)
    [ "$status" -eq 130 ]
    says 'this run has no journal'
    grep -q 'interrupted; no measurement is kept' err.txt
}
