load helpers

# Tensor maps and textures, by the fake driver, which knows the memory of each by its handle alone.

views() { # views PATTERN [OPTION]...
    gpu
    needs_the_fake
    pattern=$1
    shift
    tool "$pattern.lua" --device cuda:0 --quiet --set rows=64 --set cols=96 --finals 6 "$@"
}

@test "variants whose tiles come through a tensor map are checked, timed in batches and recorded" {
    views tensor_tiles --only box_x=8,64 --only box_y=16 --only threads=64 --json
    succeeds
    jq -e '.counts.ok == 4 and .best.time_ns > 0' out.txt
    grep -q '"box_y": 16' results/fake-gpu-0/tensor_tiles.json
}

@test "variants that read through a texture find the memory of their problem, one after the other" {
    views textured --only block_x=16,32 --only block_y=4 --json
    succeeds
    jq -e '.counts.ok == 4 and .best.time_ns > 0' out.txt
}

@test "what a tensor map cannot be is told with the line and what would do" {
    sed 's/box = { "box_x", "box_y" }/box = { "box_x \/ 4", "box_y" }/' "$BATS_TEST_DIRNAME/../../lua/tensor_tiles.lua" >tensor_tiles.lua
    tool inspect ./tensor_tiles.lua --config box_x=8,box_y=64 --arch sm_90
    fails_with 2 'tensor_tiles.lua:32'
    fails_with 2 'rows have 8 bytes; they must be a multiple of 16'
}

@test "exported kernels are refused that want a tensor map, and why is said" {
    views tensor_tiles --only box_x=8 --only box_y=16 --only threads=64
    succeeds
    tool export tensor_tiles --format cuda -o out.cu
    fails_with 2 'cannot take tensor maps'
}
