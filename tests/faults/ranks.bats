load helpers
load ranks

@test "ranks of an MPI launch share the work, and rank 0 records the winner" {
    ranks
    status=0
    FAKE_CUDA_TIME_US=8000 launch || status=$?
    output=$(cat out.txt) errors=$(cat err.txt)
    succeeds
    found_the_best
    for rank in 00 01 02 03; do [ "$(measured_by $rank)" -gt 0 ]; done
    nothing_twice
    left_together
    all_gone
}

@test "an error is printed once and ends all ranks with its exit code" {
    ranks
    status=0
    mpirun -np 3 --oversubscribe --bind-to none ./rank.sh "$AUTOTUNE" no_such.lua >out.txt 2>err.txt || status=$?
    [ "$status" -ne 0 ]
    [ "$(grep -c '^autotune: .*no_such' err.txt)" -eq 1 ]
}

@test "all ranks end, even if they sent long messages that rank 0 does not read" {
    ranks
    status=0
    mpirun -np 3 --oversubscribe --bind-to none --mca btl self,vader,tcp "$TOOLS/long_letters" >out.txt 2>err.txt ||
        status=$?
    [ "$status" -eq 0 ]
    left_together
}

@test "after the loss of a rank, the same command continues and measures nothing twice" {
    ranks
    killed 2 30
    [ "$status" -ne 0 ]
    goes_on
}

@test "after the loss of rank 0, the same command continues" {
    ranks
    killed 0 60
    [ "$status" -ne 0 ]
    goes_on
}
