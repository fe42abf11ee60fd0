load helpers

# Tests tensor maps and textures on the fake driver, which finds the memory of each by its handle.

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

@test "variants that read through a texture read the memory of their own problem" {
    views textured --only block_x=16,32 --only block_y=4 --json
    succeeds
    jq -e '.counts.ok == 4 and .best.time_ns > 0' out.txt
}

@test "a message about an invalid tensor map has the line and a remedy" {
    sed 's/box = { "box_x", "box_y" }/box = { "box_x \/ 4", "box_y" }/' "$BATS_TEST_DIRNAME/../../lua/tensor_tiles.lua" >tensor_tiles.lua
    tool inspect ./tensor_tiles.lua --config box_x=8,box_y=64 --arch sm_90
    fails_with 2 'tensor_tiles.lua:32'
    fails_with 2 'rows have 8 bytes; they must be a multiple of 16'
}

@test "kernels that need a tensor map cannot be exported, and the message says why" {
    views tensor_tiles --only box_x=8 --only box_y=16 --only threads=64
    succeeds
    tool export tensor_tiles --format cuda -o out.cu
    fails_with 2 'cannot take tensor maps'
}

surfaced() { # surfaced ARGUMENT...: writes a script whose kernel has these arguments and doubles the contents of dst
    cat >surfaced.lua <<EOF
local at = require "autotune"
return at.pattern {
  name = "surfaced", problem = { rows = 24, cols = 36 }, space = { threads = { 32, 64 } },
  buffers = { dst = at.inout { dtype = "float", count = "rows * cols" } },
  kernel = { template = "surfaced.cu", entry = "surfaced", args = { $1 } },
  launch = { grid = 1, block = "threads" }, traffic = "rows * cols",
  reference = at.reference { template = "reference.cu", entry = "surfaced_reference", args = { "dst", at.int64 "rows * cols" } },
}
EOF
    echo 'extern "C" __global__ void surfaced(cudaSurfaceObject_t s) { surf2Dwrite(1.0f, s, 0, 0); }' >surfaced.cu
    echo 'extern "C" __global__ void surfaced_reference(float *dst, long long n) { dst[0] = 1; }' >reference.cu
}

@test "a surface's array gets the buffer's contents before the launch, and the buffer gets the array's after it" {
    gpu
    needs_the_fake
    surfaced 'at.surface { buffer = "dst", size = { "cols", "rows" } }'
    tool ./surfaced.lua --device cuda:0 --quiet --json
    succeeds
    jq -e '.counts.ok == 2 and .best.time_ns > 0' out.txt
    surfaced 'at.surface { buffer = "dst", size = { "cols", "rows - 1" } }'
    tool ./surfaced.lua --device cuda:0 --quiet --json
    jq -e '.counts.wrong_result == 2' out.txt
}

@test "a buffer with an array is accessed only through the array" {
    surfaced 'at.surface { buffer = "dst", size = { "cols", "rows" } }, "dst"'
    tool inspect ./surfaced.lua --arch sm_90
    fails_with 2 'use the buffer only as views of one array, or never as an array'
    surfaced 'at.surface { buffer = "dst", size = { "cols", "rows" } }, at.texture { buffer = "dst", size = "cols * rows", memory = "array" }'
    tool inspect ./surfaced.lua --arch sm_90
    fails_with 2 'only as views of one array'
}
