load helpers
load ranks

@test "after a rank is killed, at each of ten moments, the same command finds the same winner" {
    ranks
    for moment in $(seq 10); do
        killed $((moment % 4)) $((moment * 13))
        [ "$status" -eq 0 ] || goes_on
        rm -rf results "$XDG_STATE_HOME"
    done
}
