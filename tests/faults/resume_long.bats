load helpers
load interruptions

@test "after each of a hundred interruptions the winner is the same and nothing is measured twice" {
    gpu
    needs_the_fake
    interrupt_everywhere 40 12
    interrupt_everywhere 30 99
    interrupt_everywhere 30 600
}
