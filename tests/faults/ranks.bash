# Starts four ranks on this host. Each rank has its own fake GPU.
ranks() {
    gpu
    needs_the_fake
    [ -x "$AUTOTUNE-rank" ] || skip "built without MPI"
    command -v mpirun >/dev/null || skip "no mpirun"
    export FAKE_CUDA_NAMES="Fake A"
    # mpirun keeps its sockets below TMPDIR, and needs a short path.
    export TMPDIR=/tmp OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    cat >rank.sh <<'EOF'
#!/bin/sh
FAKE_CUDA_SERIAL=$OMPI_COMM_WORLD_RANK exec "$@"
EOF
    chmod +x rank.sh
    write_space few 99
    TIMED=$PWD/$TIMED # a unique path, by which all_gone finds the processes of this test
}

launch() { # launch [OPTION]...: runs the command on four ranks, with these options of mpirun
    mpirun -np 4 --oversubscribe --bind-to none --mca btl self,vader,tcp "$@" \
        ./rank.sh "$AUTOTUNE" "$TIMED" --quiet >out.txt 2>err.txt
}

measured_by() { # measured_by RANK: prints the number of variants in the journal that this rank measured
    cat "$XDG_STATE_HOME"/autotune/journal/*.jsonl | grep -v '"asked"' |
        grep -c "\"gpu\":\"GPU-00000000-0000-0000-0000-00000000$1" || true
}

nothing_twice() {
    twice=$(grep -ho '"key":"[0-9a-f]*"' "$XDG_STATE_HOME"/autotune/journal/*.jsonl | sort | uniq -d)
    [ -z "$twice" ] || { echo "measured twice: $twice"; return 1; }
}

# Checks that all ranks ended without aborting other ranks.
left_together() {
    [ "$(grep -c MPI_ABORT err.txt)" -eq 0 ] || { cat err.txt; return 1; }
}

# Prints the process ids of the ranks that mpirun started, in their order, without their tuners and workers.
ranks_of_launch() {
    pgrep -P "$(pgrep -P "$pid" -x mpirun || echo "$pid")" | sort -n
}

all_gone() { # all_gone: waits until all processes of this test have ended
    for _ in $(seq 100); do
        pgrep -f "$TIMED" >/dev/null || return 0
        sleep 0.1
    done
    ps aux | grep "$TIMED"
    return 1
}

# Kills a rank (0 to 3) when the journal has LINES lines.
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

# Runs the same command again, unless the run was completed without the lost rank. Even then mpirun's exit code
# reports the lost rank.
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

