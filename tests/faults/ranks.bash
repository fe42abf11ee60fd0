# Four ranks on this host, each with a fake GPU of its own.
ranks() {
    gpu
    needs_the_fake
    [ -x "$AUTOTUNE-rank" ] || skip "built without MPI"
    command -v mpirun >/dev/null || skip "no mpirun"
    export FAKE_CUDA_NAMES="Fake A"
    # mpirun keeps its sockets below TMPDIR, whose path must be short; others are not to be looked for.
    export TMPDIR=/tmp OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    cat >rank.sh <<'EOF'
#!/bin/sh
FAKE_CUDA_SERIAL=$OMPI_COMM_WORLD_RANK exec "$@"
EOF
    chmod +x rank.sh
    write_space few 99
    TIMED=$PWD/$TIMED # by which all_gone tells this test's processes from others
}

launch() { # launch [OPTION]...: of mpirun
    mpirun -np 4 --oversubscribe --bind-to none --mca btl self,vader,tcp "$@" \
        ./rank.sh "$AUTOTUNE" "$TIMED" --quiet >out.txt 2>err.txt
}

measured_by() { # measured_by RANK: variants of the journal
    cat "$XDG_STATE_HOME"/autotune/journal/*.jsonl | grep -v '"asked"' |
        grep -c "\"gpu\":\"GPU-00000000-0000-0000-0000-00000000$1" || true
}

nothing_twice() {
    twice=$(grep -ho '"key":"[0-9a-f]*"' "$XDG_STATE_HOME"/autotune/journal/*.jsonl | sort | uniq -d)
    [ -z "$twice" ] || { echo "measured twice: $twice"; return 1; }
}

# All ranks had ended well when they left: none had to end the others.
left_together() {
    [ "$(grep -c MPI_ABORT err.txt)" -eq 0 ] || { cat err.txt; return 1; }
}

# The processes of the ranks that mpirun started, in their order; their tuners and workers are not.
ranks_of_launch() {
    pgrep -P "$(pgrep -P "$pid" -x mpirun || echo "$pid")" | sort -n
}

all_gone() { # no process of this test is left
    for _ in $(seq 100); do
        pgrep -f "$TIMED" >/dev/null || return 0
        sleep 0.1
    done
    ps aux | grep "$TIMED"
    return 1
}

# Kills the rank (0 to 3) once the journal has so many lines, and runs again.
killed() { # killed RANK LINES [OPTION]...
    rank=$1 lines=$2
    shift 2
    FAKE_CUDA_TIME_US=4000 launch "$@" &
    pid=$!
    for _ in $(seq 600); do
        [ "$(cat "$XDG_STATE_HOME"/autotune/journal/*.jsonl 2>/dev/null | wc -l)" -ge "$lines" ] && break
        sleep 0.02
    done
    victim=$(ranks_of_launch | sed -n "$((rank + 1))p")
    [ -n "$victim" ] && kill -KILL "$victim"
    status=0
    wait $pid || status=$?
    all_gone
}

# The same command goes on; where the run went on to its end without the rank, which mpirun tells by its exit code all the
# same, there is nothing to go on with.
goes_on() {
    if grep -qs '"finished"' "$XDG_STATE_HOME"/autotune/journal/*.jsonl; then
        output=$(cat out.txt)
        found_the_best && nothing_twice
        return
    fi
    status=0
    launch || status=$?
    output=$(cat out.txt) errors=$(cat err.txt)
    succeeds || return 1
    found_the_best || return 1
    left_together || return 1
    nothing_twice
}

