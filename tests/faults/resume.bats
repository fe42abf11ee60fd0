load helpers

@test "a run that was killed at any moment goes on to the same winner" {
    gpu
    write_space small 12
    count_pieces
    for part in 1 2 3 4 5 6 7 8; do
        interrupt_at $((pieces * part / 9)) 9
        [ "$status" -eq 137 ]
        resumes
        forget
    done
}

@test "a run that was interrupted at any moment goes on to the same winner" {
    gpu
    write_space small 12
    count_pieces
    for part in 1 3 5 7; do
        interrupt_at $((pieces * part / 8)) 2
        [ "$status" -eq 130 ]
        resumes
        forget
    done
}
