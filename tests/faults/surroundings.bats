load helpers

# In unusual surroundings, a run ends as elsewhere, or fails with a clear message before it measures.

few() { # few: prepares a run of twelve configurations, in a folder that any user may write
    gpu
    needs_the_fake
    write_space few 12
}

run_it() { # run_it [COMMAND...]: runs the script, with the words of COMMAND before the program
    status=0
    "$@" "$AUTOTUNE" "$TIMED" --device cuda:0 --quiet --jobs 2 --results results >out.txt 2>err.txt || status=$?
    output=$(cat out.txt)
    errors=$(cat err.txt)
}

is_whole() {
    succeeds || return 1
    found_the_best || return 1
    recorded || return 1
    left=$(find "$WORK" -name '*.tmp')
    [ -z "$left" ] || { echo "$left"; return 1; }
}

says_why() { # says_why TEXT: checks that the run ended with TEXT before it measured a variant
    fails_with 4 "$1" || return 1
    [ "$(journal_lines)" -eq 0 ] || { echo "it measured a variant"; return 1; }
}

as_another() { # as_another COMMAND...: runs the command as a user without a name, a home folder, or rights
    [ "$(id -u)" -eq 0 ] || skip "only root becomes another user"
    chmod 777 "$WORK"
    setpriv --reuid 12345 --regid 12345 --clear-groups "$@"
}

@test "few descriptors are enough, and with too few the error names the limit" {
    few
    (ulimit -n 24; run_it; is_whole)
    forget
    (ulimit -n 8; run_it; says_why 'Too many open files')
}

@test "a small limit on the stack is raised, or reported" {
    few
    (ulimit -S -s 64; run_it; is_whole)
    forget
    (ulimit -s 64; run_it; says_why 'may have 64 KiB here, which is too little; raise the limit')
}

@test "a user without a name or a writable home gets a record" {
    few
    mkdir home
    run_it as_another env -u XDG_CACHE_HOME -u XDG_STATE_HOME -u AUTOTUNE_TURNS -u XDG_RUNTIME_DIR HOME="$WORK/none"
    is_whole
    forget
    run_it as_another env -u XDG_CACHE_HOME -u XDG_STATE_HOME -u AUTOTUNE_TURNS -u XDG_RUNTIME_DIR -u HOME
    is_whole
}

@test "a run works without turns if their folder is missing, a file, or another user's" {
    few
    mkdir -m 700 others
    touch file
    for folder in none file others; do
        forget
        run_it as_another env -u AUTOTUNE_TURNS XDG_RUNTIME_DIR="$WORK/$folder"
        is_whole
        chmod 700 others
    done
}

@test "if the umask makes files unreadable, the error says so" {
    few
    run_it as_another sh -c 'umask 777 && exec "$@"' sh
    says_why 'Permission denied'
}

@test "the error names the limit of processes" {
    few
    run_it as_another prlimit --nproc=1
    fails_with 4 'cannot start' || fails_with 3 'cannot start'
    [ ! -e "$FAKE_CUDA_TIMES" ]
}

@test "errors name dangling and circular links" {
    few
    ln -s nowhere/there results
    run_it
    says_why 'results is a broken link'
    ln -sfn results results
    run_it
    says_why 'Too many levels of symbolic links'
}

@test "a script's name may contain line breaks and have the largest length" {
    few
    for name in $'fe\nw' "$(printf 'a%.0s' $(seq 251))"; do
        forget
        cp few.lua "$name.lua"
        TIMED="$name.lua"
        run_it
        is_whole
    done
}

@test "a run works with the clock at 1970, 2100 or the year 10000" {
    few
    now=$(date +%s)
    for second in 1000 4102444800 253402301000; do
        rm -rf results "$XDG_STATE_HOME"
        export CLOCK_AHEAD_S=$((second - now)) LD_PRELOAD=$TOOLS/clock_preload.so
        run_it
        unset LD_PRELOAD
        is_whole
        tool results list --results results
        succeeds
        says "$(date -u -d @$second +%Y-)"
        # A later run has the right time.
        run_it
        is_whole
        tool results list --results results --json
        succeeds
    done
}

@test "a run works although the folders for compiled code, journals and temporary files are full" {
    few
    [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null || skip "only root mounts"
    for name in XDG_CACHE_HOME XDG_STATE_HOME TMPDIR; do
        rm -rf results
        mkdir -p full
        run_it unshare -m sh -c "mount -t tmpfs -o size=4k none full && head -c 4096 /dev/zero >full/x && export $name=$WORK/full && exec \"\$@\"" sh
        is_whole
    done
}

@test "a run that is stopped and continued repeatedly is complete" {
    gpu
    needs_the_fake
    write_space small 600
    "$AUTOTUNE" "$TIMED" --device cuda:0 --quiet --results results >out.txt 2>err.txt &
    pid=$!
    for _ in $(seq 8); do
        sleep 0.1
        kill -STOP "$pid" 2>/dev/null || break
        sleep 0.1
        kill -CONT "$pid" || break
    done
    end_run
    is_whole
}

@test "a run on a GPU that opens late has a winner within its budget" {
    few
    # The device opens after 4.5 s, but the search may use only 4.1 s of the budget.
    FAKE_CUDA_OPEN_MS=4500 tool "$TIMED" --device cuda:0 --budget 6s --quiet --results results
    succeeds
    says 'best        a='
}
