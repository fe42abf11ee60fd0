# Tests data files of users, with contents of buffers or expected results.
load helpers

# numpy FILE TYPE CODE SHAPE ELEMENTS [ORDER]: writes the file as numpy.save() does; ELEMENTS is Python
numpy() {
    python3 - "$@" <<'EOF'
import array, struct, sys
file, descr, code, shape, elements = sys.argv[1:6]
header = "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }" % (descr, (sys.argv[6:] or ["False"])[0], shape)
header = (header + " " * (-(len(header) + 11) % 64) + "\n").encode()
open(file, "wb").write(b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header + array.array(code, eval(elements)).tobytes())
EOF
}

# pattern FILL [MORE]: writes p.lua, which computes y = 2 * x; FILL is the fill of x
pattern() {
    cat >p.cu.tmpl <<'EOF'
extern "C" __global__ void p(const float *x, float *y, int n)
{
    int i = blockIdx.x * ${block} + threadIdx.x;
    if (i < n) y[i] = (${factor} == 3 && i == 5 ? 3 : 2) * x[i];
}
EOF
    cat >p.lua <<EOF
local at = require "autotune"
local x = $1
return at.pattern {
  name = "p", problem = { n = x.count },
  space = { block = { 64, 128 }, factor = { 2, 3 } },
  buffers = { x = at.input { dtype = "float", count = "n", fill = x }, y = at.output { dtype = "float", count = "n" } },
  kernel = { template = "p.cu.tmpl", args = { "x", "y", at.int32 "n" } },
  launch = { grid = "ceil_div(n, block)", block = "block" },
  $2
}
EOF
}

@test "a file gives a buffer's contents and size, and another file gives the expected results" {
    numpy x.npy '<f4' f '(30, 40)' 'range(1200)'
    numpy y.npy '<f4' f '(1200,)' 'range(0, 2400, 2)'
    pattern 'at.file "x.npy"' 'reference = at.file "y.npy",'
    sed -i 's/n = x.count/n = x.shape[1] * x.shape[2]/' p.lua
    tool check p.lua --device sim:sm_90
    succeeds
    says '1 agrees with the results in files, 0 wrong'
    tool check p.lua --device sim:sm_90 --config factor=3 --json
    [ "$status" -eq 1 ]
    says '"oracle": "file"'
    says "1 of 1200 elements of y differ from the file's, first y[5]: expected 10, found 15"
    tool p.lua --device sim:sm_90 --budget 4 --quiet
    succeeds
    says '2 ok, 2 wrong_result'
    says 'its results agree with those in files'
    tool explain p.lua
    succeeds
}

@test "elements of a file without a header have the type of the script" {
    python3 -c 'import array; open("x.bin", "wb").write(array.array("f", range(1200)).tobytes())'
    pattern 'at.file("x.bin", { dtype = "float" })'
    tool check p.lua --device sim:sm_90
    succeeds
    sed -i 's/dtype = "float" })/dtype = "double" })/' p.lua
    tool check p.lua --device sim:sm_90
    fails_with 2 'p.lua:6: buffers.x: its elements are float, but the elements of ./x.bin are double: give the buffer dtype = "double", or convert the file (numpy: a.astype(...))'
}

@test "a smaller problem uses the first elements of a file if the script says so" {
    numpy x.npy '<f4' f '(1200,)' 'range(1200)'
    numpy y.npy '<f4' f '(1200,)' 'range(0, 2400, 2)'
    pattern 'at.file("x.npy", { head = true })' 'ragged = { n = 1003 }, reference = { y = at.file "y.npy" },'
    tool check p.lua --device sim:sm_90 --config factor=3
    [ "$status" -eq 1 ]
    says "on the tuned problem n=1200: 1 of 1200 elements of y differ from the file's"
    tool check p.lua --device sim:sm_90
    succeeds
    says 'the ragged problem n=1003'
    sed -i 's/, { head = true }//' p.lua
    tool check p.lua --device sim:sm_90
    fails_with 2 'buffers.x: it has 1003 elements on a ragged problem, but ./x.npy has 1200'
    tool check p.lua --device sim:sm_90 --set n=1300
    fails_with 2 'buffers.x: it has 1300 elements on the tuned problem, but ./x.npy has 1200'
}

@test "buffers larger than a message are sent completely, even for problems that are run in part" {
    numpy x.npy '<f4' f '(1310720,)' '(i % 1000 for i in range(1310720))'
    numpy y.npy '<f4' f '(1310720,)' '(2 * (i % 1000) for i in range(1310720))'
    pattern 'at.file("x.npy", { head = true })' 'simulated = { n = 100000 }, reference = at.file "y.npy",'
    tool check p.lua --device sim:sm_90
    succeeds
    says 'blocks of the tuned problem n=1310720'
    tool p.lua --device sim:sm_90 --budget 1 --quiet --set n=1310720
    succeeds
    says '1 ok'
}

@test "a kernel file has no smaller problem if a data file fills a whole buffer" {
    numpy x.npy '<f4' f '(65536,)' 'range(65536)'
    cat >k.cu <<'EOF'
/* autotune
problem = { n = at.file("x.npy").count }
space   = { BLOCK = { 64, 128 } }
launch  = { grid = "ceil_div(n, BLOCK)", block = "BLOCK" }
sizes   = { x = "n", y = "n" }
buffers = { x = at.input { fill = at.file "x.npy" } }
*/
#ifndef BLOCK
#define BLOCK 128
#endif
__global__ void k(const float *x, float *y, int n)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}
EOF
    tool check k.cu --device sim:sm_90
    succeeds
    says 'on a simulated sm_90, the tuned problem: 1 agrees with the baseline'
    sed -i 's/const float/const double/' k.cu
    tool check k.cu --device sim:sm_90
    fails_with 2 'its elements are double, but the elements of ./x.npy are float: give the buffer'
}

@test "messages about wrong files have the script's line and a remedy" {
    numpy be.npy '>f4' f '(4,)' 'range(4)'
    numpy columns.npy '<f4' f '(2, 2)' 'range(4)' True
    numpy cut.npy '<f4' f '(5,)' 'range(4)'
    printf 'nothing' >not.npy
    ln -s /etc/hostname link.npy
    for row in 'be.npy|big-endian; numpy.save' 'columns.npy|Fortran' 'cut.npy|16 bytes of elements, but its shape needs 20' \
        'not.npy|not a NumPy file' 'none.npy|there is no' '../x.npy|there is no' '/etc/hostname|there is no' 'link.npy|a link that leaves'; do
        pattern "at.file \"${row%%|*}\""
        tool check p.lua --device sim:sm_90
        fails_with 2 "p.lua:2: at.file:"
        fails_with 2 "${row#*|}"
    done
    numpy x.npy '<f4' f '(4,)' 'range(4)'
    pattern 'at.file "x.npy"' 'reference = { z = at.file "x.npy" },'
    tool check p.lua --device sim:sm_90
    fails_with 2 'p.lua:9: reference has no file for y'
    pattern 'at.file("x.npy", { heads = true })'
    tool check p.lua --device sim:sm_90
    fails_with 2 "did you mean 'head'?"
}

@test "a list of values has any length" {
    pattern '{ count = 7001, list = {} }'
    sed -i 's/fill = x }/fill = at.values(x.list) }/; /^local x/a for i = 1, 3000 do x.list[i] = i % 7 end x.list[2990] = "n + 1"' p.lua
    sed -i 's/i == 5 ?/i == 5989 ?/' p.cu.tmpl
    tool check p.lua --device sim:sm_90
    succeeds
    tool check p.lua --device sim:sm_90 --config factor=3
    [ "$status" -eq 1 ]
    says 'first y[5989]: expected 14004, found 21006'
    tool p.lua --device sim:sm_90 --budget 4 --quiet
    succeeds
    says '2 ok, 2 wrong_result'
}
