# A captured launch as the problem of its kernel's own file: `autotune kernel.cu --captured DIR`.
load helpers

capture() { # capture DIR KERNEL HOW...
    local dir=$1 kernel=$2
    shift 2
    AUTOTUNE_LIBCUDA=${FAKE_CUDA:?} AUTOTUNE_LIBCUPTI=${FAKE_CUPTI:?} "$AUTOTUNE" capture -o "$dir" --kernel "$kernel" -- \
        "${CAPTURED_PROGRAM:?}" "$FIXTURES/captured.ptx" "$@" >/dev/null
}

changed() { # changed SED: the fixture otherwise, as kernel.cu
    sed "$1" "$FIXTURES/captured.cu" >kernel.cu
}

@test "the launch says the problem, and how large its memory is: nothing else is asked for" {
    capture seen scale_by scale 1000
    tool "$FIXTURES/captured.cu" --captured seen --device sim:sm_90 --quiet --json
    succeeds
    says '"n": 1000'
    says '"by": 0.5'
    [ -z "$errors" ]
    tool check "$FIXTURES/captured.cu" --captured seen --arch sm_90 --budget 8
    succeeds
    says "8 agree"
}

@test "a baseline that is launched otherwise than the program launched it is said" {
    capture seen scale_by scale 1000
    changed 's/define BLOCK 128/define BLOCK 64/'
    tool emit kernel.cu --captured seen --arch sm_90
    succeeds
    [[ "$errors" == *"the program launched a grid of 8 x 1 x 1, blocks of 128 x 1 x 1"*"the baseline has 16 x 1 x 1, 64 x 1 x 1"* ]]
}

@test "what does not fit the launch is refused in one screen" {
    capture seen scale_by scale 1000
    capture view scale_view view 1000
    tool emit "$FIXTURES/captured.cu" --captured view --arch sm_90
    fails_with 2 "has a launch of scale_view(view, float), and this is the kernel scale_by"
    changed 's/entry = "scale_by"/entry = "scale_view"/;s/(n, /(1000, /'
    tool emit kernel.cu --captured view --arch sm_90
    fails_with 2 "argument 1 of the captured launch (view v) is a structure that holds addresses"
    changed 's/unsigned n, float by)/unsigned n)/;s/by \* in/2 * in/'
    tool emit kernel.cu --captured seen --arch sm_90
    fails_with 2 "has 4 arguments"
    changed 's/unsigned n, float by)/unsigned n, double by)/'
    tool emit kernel.cu --captured seen --arch sm_90
    fails_with 2 "argument 4 of the captured launch (double by) has 4 bytes, and the kernel's has 8"
    changed '/^launch/d'
    tool emit kernel.cu --captured seen --arch sm_90
    fails_with 2 "the program launched grid = 8, block = 128"
    tool emit "$FIXTURES/captured.cu" --captured seen --arch sm_90 --set n=10
    fails_with 2 "--set n: the captured launch"
    tool emit "$FIXTURES/scale.lua" --captured seen --arch sm_90
    fails_with 2 "--captured is for a kernel in a file of its own"
    tool emit "$FIXTURES/captured.cu" --captured nowhere --arch sm_90
    fails_with 2 "there is no capture"
}
