load helpers
load ranks

@test "at ten moments a rank is killed, and the same command goes on to the same winner" {
    ranks
    for moment in $(seq 10); do
        killed $((moment % 4)) $((moment * 13))
        [ "$status" -eq 0 ] || goes_on
        rm -rf results "$XDG_STATE_HOME"
    done
}
