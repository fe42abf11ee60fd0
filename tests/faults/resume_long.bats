load helpers
load interruptions

@test "a hundred interruptions of three sizes of space, in every stage: the same winner, nothing twice" {
    gpu
    needs_the_fake
    interrupt_everywhere 40 12
    interrupt_everywhere 30 99
    interrupt_everywhere 30 600
}
