load helpers

# Launches with attributes, as the fake driver logs them: kernel, cluster, scheduling policy (2: the blocks of a cluster
# are balanced) and whether the launch is cooperative.

clusters() { # clusters [OPTION]...
    gpu
    needs_the_fake
    export FAKE_CUDA_ATTRIBUTES=$WORK/attributes
    tool "$FIXTURES/clustered.lua" --device cuda:0 --quiet --json "$@"
    succeeds
}

attributes_are() { # attributes_are LINE...: checks the attributes of all launches that have any
    printf '%s\n' "$@" >expected.txt
    sort -u "$FAKE_CUDA_ATTRIBUTES" | diff expected.txt -
}

@test "a launch in clusters says so where its blocks are balanced" {
    clusters --only waits=false --only size=2,4 --only balanced=true
    attributes_are 'good 2,1,1 2 0' 'good 4,1,1 2 0'
}

@test "elsewhere the policy is the driver's own" {
    clusters --only waits=false --only size=2,4 --only balanced=false
    attributes_are 'good 2,1,1 0 0' 'good 4,1,1 0 0'
}

@test "a launch has all its attributes, and no policy without clusters" {
    clusters --only waits=true --only size=1,4 --only balanced=true
    attributes_are 'good 1,1,1 0 1' 'good 4,1,1 2 1'
}

@test "variants that only balancing tells apart are each measured, without clusters once" {
    clusters --only waits=false --only size=4
    jq -e '.counts.ok == 2 and .twins == 0' out.txt
    clusters --only waits=false --only size=1
    jq -e '.counts.ok == 2 and .twins == 1' out.txt
}
