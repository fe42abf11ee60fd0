# Tests the tuning of a kernel file on a captured launch: `autotune kernel.cu --captured DIR`.
load helpers

capture() { # capture DIR KERNEL ARGUMENT...: captures KERNEL from a run of the program with these arguments
    local dir=$1 kernel=$2
    shift 2
    AUTOTUNE_LIBCUDA=${FAKE_CUDA:?} AUTOTUNE_LIBCUPTI=${FAKE_CUPTI:?} "$AUTOTUNE" capture -o "$dir" --kernel "$kernel" ${NTH:+--nth "$NTH"} -- \
        "${CAPTURED_PROGRAM:?}" "${IMAGE:-$FIXTURES/captured.ptx}" "$@" >/dev/null
}

changed() { # changed SED: writes the fixture, changed by SED, to kernel.cu
    sed "$1" "$FIXTURES/captured.cu" >kernel.cu
}

@test "the launch gives the problem and the sizes of its memory; no other fields are needed" {
    capture seen scale_by scale 1000
    tool "$FIXTURES/captured.cu" --captured seen --device sim:sm_90 --quiet --json
    succeeds
    says '"n": 1000'
    says '"by": 0.5'
    [ -z "$errors" ]
    tool check "$FIXTURES/captured.cu" --captured seen --device sim:sm_90 --budget 8
    succeeds
    says "8 agree"
}

@test "variants are compared with the program's results on its own data" {
    capture seen scale_by inner 1000
    tool check "$FIXTURES/captured.cu" --captured seen --device sim:sm_90 --budget 8
    succeeds
    says "8 agree with the results in files"
    # The variant with ITEMS = 2 has one wrong element on the captured data, but is right on other data.
    changed 's/out\[i\] = by \* in\[i\];/out[i] = ITEMS == 2 \&\& in[i] == -400.75f ? 0 : by * in[i];/'
    tool check kernel.cu --captured seen --device sim:sm_90 --budget 8
    [ "$status" -eq 1 ]
    says "4 agree with the results in files, 4 wrong"
    says "out[83]"
}

# modes [SED]: writes modes.cu. Its MODE selects the elements that are not written: 0 none, 1 all, 2 half, 3 one. Mode
# 4 writes a wrong element.
modes() {
    sed "${1:-}" >modes.cu <<'EOF'
/* autotune
space  = { BLOCK = { 128 }, MODE = { 0, 1, 2, 3, 4 } }
launch = { grid = "ceil_div(n, BLOCK)", block = "BLOCK" }
kernel = { entry = "scale_by" }
*/
#define BLOCK 128
#define MODE 0
__global__ void scale_by(float *out, const float *in, unsigned n, float by)
{
    unsigned i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n && MODE != 1 && (MODE != 2 || i % 2) && (MODE != 3 || i != n - 1))
        out[i] = MODE == 4 && i == n / 2 ? 2 * by * in[i] : by * in[i];
}
EOF
}

@test "a variant that writes nothing or only a part is wrong, even if the program ran the kernel before" {
    modes
    for how in "1 scale 1000" "2 twice 1000" "2 twice 3000000"; do
        rm -rf seen
        # shellcheck disable=SC2086
        NTH=${how%% *} capture seen scale_by ${how#* }
        tool check modes.cu --captured seen --device sim:sm_90 --budget 5
        [ "$status" -eq 1 ]
        says "1 agrees with the results in files, 4 wrong, 0 not proven"
    done
    rm -rf seen
    NTH=2 capture seen scale_by twice 1000
    tool modes.cu --captured seen --device sim:sm_90 --quiet --no-record
    succeeds
    says "5 tried of 5 valid (5 in the full product): 1 ok, 4 wrong_result"
}

@test "a kernel that works in place reads the program's data" {
    modes 's/const float \*in/float *in/'
    capture seen scale_by inplace 1000
    tool check modes.cu --captured seen --device sim:sm_90 --budget 5
    [ "$status" -eq 1 ]
    says "1 agrees with the results in files, 4 wrong, 0 not proven"
}

@test "a launch that is too large to run completely is run in part, on the program's data" {
    capture seen scale_by scale 2500000
    tool check "$FIXTURES/captured.cu" --captured seen --device sim:sm_90 --budget 2
    succeeds
    says "blocks of the tuned problem: 2 agree"
    changed 's/by \* in\[i\];/(ITEMS == 2 ? 3 : by) * in[i];/'
    tool check kernel.cu --captured seen --device sim:sm_90 --config ITEMS=2
    [ "$status" -eq 1 ]
}

@test "a baseline that differs from the program's results is reported" {
    capture seen scale_by scale 1000
    changed 's/by \* in\[i\];/by + in[i];/'
    tool check kernel.cu --captured seen --device sim:sm_90
    [ "$status" -eq 1 ]
    says "out[0]"
}

@test "sizes may be smaller than the captured memory, but not larger" {
    capture seen scale_by scale 1000
    changed 's/^space /sizes = { out = "n", in_ = "n" }\nspace /'
    tool check kernel.cu --captured seen --device sim:sm_90
    succeeds
    changed 's/^space /sizes = { out = "n + 1" }\nspace /'
    tool check kernel.cu --captured seen --device sim:sm_90
    fails_with 2 "sizes.out gives 1001 elements of 4 bytes, but the memory behind argument 1 of the captured launch (float *out) holds only 1000"
    changed 's/^space /sizes = { out = "-n" }\nspace /'
    tool check kernel.cu --captured seen --device sim:sm_90
    fails_with 2 "sizes.out gives '-n' with the values of the captured launch"
}

@test "a structure by value has buffers' addresses in place of the program's addresses" {
    capture view scale_view view 1000
    changed 's/entry = "scale_by"/entry = "scale_view"/;s/(n, /(1000, /;s/ITEMS = { 1, 2 }/ITEMS = { 1 }/'
    tool check kernel.cu --captured view --device sim:sm_90 --budget 8
    succeeds
    says "4 agree with the results in files"
    tool emit kernel.cu --captured view --arch sm_90 --best
    sed -i 's/v.out\[i\] = by/v.out[i] = 2 * by/' kernel.cu
    tool check kernel.cu --captured view --device sim:sm_90
    [ "$status" -eq 1 ]
    says "first v_16[2]: expected 121"
    # If the pattern gives the type, messages name elements, and floats are compared with a tolerance.
    sed -i 's/^kernel /buffers = { v_16 = at.output { dtype = "float", count = "1000" } }\nkernel /' kernel.cu
    tool check kernel.cu --captured view --device sim:sm_90
    [ "$status" -eq 1 ]
    says "first v_16[0]"
}

@test "memory that is passed twice is one buffer" {
    capture seen scale_by inplace 1000
    tool check "$FIXTURES/captured.cu" --captured seen --device sim:sm_90 --budget 8
    succeeds
    says "8 agree with the results in files"
}

@test "the recorded mix is the configuration with the least total time over all launches" {
    AUTOTUNE_LIBCUDA=$FAKE_CUDA AUTOTUNE_LIBCUPTI=$FAKE_CUPTI "$AUTOTUNE" capture -o seen --kernel scale_by --shapes 4 -- \
        "$CAPTURED_PROGRAM" "$FIXTURES/captured.ptx" scale 64 scale 300000 scale 64 >/dev/null
    tool mix "$FIXTURES/captured.cu" --captured seen --device sim:sm_90 --quiet --json
    succeeds
    python3 - <<'END'
import json
d = json.load(open("out.txt"))
l = d["launches"]
assert [x["count"] for x in l] == [2, 1] and d["tried"] > 1 and d["speedup"] >= 1
assert d["total_ns"] == sum(x["count"] * x["mix_ns"] for x in l) <= sum(x["count"] * x["baseline_ns"] for x in l)
END
    tool mix "$FIXTURES/captured.cu" --captured seen --device sim:sm_90 --quiet
    says "on 2 launches"
    AUTOTUNE_LIBCUDA=$FAKE_CUDA tool mix "$FIXTURES/captured.cu" --captured seen --device cuda:0 --budget 2 --results r --quiet
    says "The best of each launch is recorded (2 of 2)"
    says "Into the file: autotune apply FILE.cu --captured seen"
    [ "$(grep -c '"problem"' r/*/captured.json)" -ge 2 ]
    # `apply` writes the best configuration of all launches, not of one launch.
    python3 - r/*/captured.json <<'END'
import json, sys
d = json.load(open(sys.argv[1]))
p = d["portfolios"][0]
assert p["fixed"] == {} and len(p["configurations"]) == 1 and len(p["problems"]) == 2
p["configurations"][0].update(BLOCK=32, ITEMS=2)
for e in d["entries"]: e["configuration"].update(BLOCK=64, ITEMS=1)
json.dump(d, open(sys.argv[1], "w"))
END
    cp "$FIXTURES/captured.cu" .
    AUTOTUNE_LIBCUDA=$FAKE_CUDA tool apply captured.cu --captured seen --results r
    says "+#define BLOCK 32"
    says "+#define ITEMS 2"
    AUTOTUNE_LIBCUDA=$FAKE_CUDA tool apply captured.cu --captured seen:2 --results r
    says "+#define BLOCK 64"
    AUTOTUNE_LIBCUDA=$FAKE_CUDA tool apply captured.cu --captured seen --results none
    fails_with 2 "no configuration for all captured launches is recorded for Fake GPU 0"
    tool mix "$FIXTURES/captured.cu"
    fails_with 2 "--captured DIR is missing"
    tool mix "$FIXTURES/captured.cu" --captured nowhere
    fails_with 2 "there is no capture"
}

@test "variables of the module have the program's values" {
    python3 - "$FIXTURES/captured.ptx" <<'END'
import sys
text = open(sys.argv[1]).read()
open("variable.ptx", "w").write(text.replace(".address_size 64\n", ".address_size 64\n.const .align 4 .b8 fake_constant[16384];\n"))
END
    IMAGE=variable.ptx capture seen scale_by scale 1000
    # The variable is 0 in the program and 5 in the file.
    changed 's/^struct view/__constant__ int fake_constant[4096] = { 5 };\nstruct view/;s/by \* in\[i\];/by * in[i] + fake_constant[0];/'
    tool check kernel.cu --captured seen --device sim:sm_90
    succeeds
    changed 's/^struct view/__constant__ int fake_constant[4096] = { 5 };\nstruct view/'
    tool check kernel.cu --captured seen --device sim:sm_90
    succeeds
}

@test "a baseline whose launch differs from the program's is reported" {
    capture seen scale_by scale 1000
    changed 's/define BLOCK 128/define BLOCK 64/'
    tool emit kernel.cu --captured seen --arch sm_90
    succeeds
    [[ "$errors" == *"the program launched a grid of 8 x 1 x 1, blocks of 128 x 1 x 1"*"the baseline has 16 x 1 x 1, 64 x 1 x 1"* ]]
}

@test "values that do not fit the launch are refused with at most one screen of text" {
    capture seen scale_by scale 1000
    capture view scale_view view 1000
    tool emit "$FIXTURES/captured.cu" --captured view --arch sm_90
    fails_with 2 "is a launch of scale_view(view, float), but the kernel to tune is scale_by"
    changed 's/unsigned n, float by)/unsigned n)/;s/by \* in/2 * in/'
    tool emit kernel.cu --captured seen --arch sm_90
    fails_with 2 "has 4 arguments"
    changed 's/unsigned n, float by)/unsigned n, double by)/'
    tool emit kernel.cu --captured seen --arch sm_90
    fails_with 2 "argument 4 of the captured launch (double by) has 4 bytes, but the kernel's parameter has 8: build the program from this"
    changed '/^launch/d'
    tool emit kernel.cu --captured seen --arch sm_90
    fails_with 2 "the program launched grid = 8, block = 128"
    tool emit "$FIXTURES/captured.cu" --captured seen --arch sm_90 --set n=10
    fails_with 2 "--set n: the captured launch"
    tool emit "$FIXTURES/scale.lua" --captured seen --arch sm_90
    fails_with 2 "--captured needs a kernel in a file of its own: kernel = { source ="
    tool emit "$FIXTURES/captured.cu" --captured nowhere --arch sm_90
    fails_with 2 "there is no capture"
}

@test "a captured sequence: buffers at one address are one buffer, even if the kernels name them differently" {
    capture seen scale_by scale 1000
    tool "$FIXTURES/captured.cu" --captured seen --device sim --after "$FIXTURES/captured.cu@seen"
    fails_with 2 '--after needs a real GPU'
    export AUTOTUNE_LIBCUDA=$FAKE_CUDA
    sed 's/float \*out/float *dest/;s/out\[i\] = by \* in/dest[i] = by * in/' "$FIXTURES/captured.cu" >first.cu
    tool "$FIXTURES/captured.cu" --captured seen --after first.cu@seen --device cuda:0 --no-record --quiet --json
    succeeds
    python3 -c 'import json; assert json.load(open("out.txt"))["after"] == "first"'
    sed -i 's/^space /sizes = { dest = "n - 1" }\nspace /' first.cu
    tool "$FIXTURES/captured.cu" --captured seen --after first.cu@seen --device cuda:0 --no-record --quiet
    fails_with 2 'its buffer out has 3996 bytes, but the buffer of that name in the kernels after it has 4000: both'
    tool "$FIXTURES/captured.cu" --captured seen --after first.cu@nowhere --device cuda:0 --no-record --quiet
    fails_with 2 '--after first.cu@nowhere'
}

@test "'apply' without the captured launch names the missing option" {
    cp "$FIXTURES/captured.cu" .
    tool apply captured.cu --config BLOCK=64
    fails_with 2 "If a launch of the program was captured, add --captured DIR instead"
}
