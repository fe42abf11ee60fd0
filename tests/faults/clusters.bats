load helpers

# The fake driver logs launches with attributes: kernel, cluster, scheduling policy (2 balances the blocks of a
# cluster) and whether the launch is cooperative.

clusters() { # clusters [OPTION]...
    gpu
    needs_the_fake
    export FAKE_CUDA_ATTRIBUTES=$WORK/attributes
    tool "$FIXTURES/clustered.lua" --device cuda:0 --quiet --json "$@"
    succeeds
}

attributes_are() { # attributes_are LINE...: checks the attributes of all launches that have attributes
    printf '%s\n' "$@" >expected.txt
    sort -u "$FAKE_CUDA_ATTRIBUTES" | diff expected.txt -
}

@test "a launch with balanced clusters sets the scheduling policy" {
    clusters --only waits=false --only size=2,4 --only balanced=true
    attributes_are 'good 2,1,1 2 0' 'good 4,1,1 2 0'
}

@test "a launch without balanced clusters leaves the policy to the driver" {
    clusters --only waits=false --only size=2,4 --only balanced=false
    attributes_are 'good 2,1,1 0 0' 'good 4,1,1 0 0'
}

@test "a launch has all its attributes, but no scheduling policy without clusters" {
    clusters --only waits=true --only size=1,4 --only balanced=true
    attributes_are 'good 1,1,1 0 1' 'good 4,1,1 2 1'
}

@test "variants that differ only in balancing are measured once without clusters and separately with clusters" {
    clusters --only waits=false --only size=4
    jq -e '.counts.ok == 2 and .twins == 0' out.txt
    clusters --only waits=false --only size=1
    jq -e '.counts.ok == 2 and .twins == 1' out.txt
}
