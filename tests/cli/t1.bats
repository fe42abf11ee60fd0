# autotune spec.json: the T1 format of other auto-tuners.
load helpers

spec() { # spec SED-EXPRESSION...: scale_t1.json with changes, beside its kernel
    cp "$FIXTURES/scale_t1.cu" .
    local expressions=(-e "")
    for e in "$@"; do expressions+=(-e "$e"); done
    sed "${expressions[@]}" "$FIXTURES/scale_t1.json" >spec.json
    # A change that changes nothing would be no test.
    [ $# -eq 0 ] || ! cmp -s spec.json "$FIXTURES/scale_t1.json"
}

refused() { # refused LINE TEXT: loading the file fails at its line, with the text
    tool space spec.json --arch sm_90
    fails_with 2 "spec.json:$1: "
    fails_with 2 "$2"
    [ "$(wc -l <err.txt)" -le 8 ]
}

@test "a file is the pattern that a script would have been" {
    spec
    tool space spec.json --arch sm_90
    succeeds
    says "BLOCK 5 32 64 128 192 256"
    says "ITEMS 4 1 2 4 8"
    says "20 points in the product, 14 valid"
    tool inspect spec.json --arch sm_90
    succeeds
    says "BLOCK=128,ITEMS=1"
    tool emit spec.json --config BLOCK=64,ITEMS=2 --no-line
    succeeds
    says "#define ITEMS 2"
}

@test "its variants are checked, explained, tuned and swept" {
    spec
    tool check spec.json --budget 20
    succeeds
    says "14 agree with the baseline, 0 wrong, 0 not proven"
    tool explain spec.json
    succeeds
    says "Counted in 16 of 16 blocks"
    tool tune spec.json --device sim:sm_90 --budget 3
    succeeds
    says "its results agree with the baseline's"
    tool sweep spec.json --device sim:sm_90 --over n=1000,2000 --budget 2
    succeeds
    says "1000 "
}

@test "ProblemSize and GridDiv are taken as Kernel Tuner takes them, and sizes may read them" {
    spec 's/"GlobalSize":.*/"ProblemSize": [2000], "GridDivX": ["BLOCK", "ITEMS"], "GlobalSize": {"X": "7"},/' \
        's/"Size": 2000/"Size": "ProblemSize[0] * max(ITEMS) \/\/ 8"/'
    tool explain spec.json --config BLOCK=64,ITEMS=2
    succeeds
    says "Counted in 16 of 16 blocks"
    says "problem_size_x=2000"
    [[ "$errors" == *"spec.json:18: GlobalSize gives 1 x 1 x 1 blocks of the baseline, and ProblemSize 16 x 1 x 1, which is taken"* ]]
}

@test "a size that a kernel reads beyond is found" {
    spec '0,/"Size": 2000/s//"Size": 1999/'
    tool check spec.json
    fails_with 1 ""
    says "scale_t1.cu:9"
    says "x[1999], 0 bytes after the end of x"
}

@test "GlobalSize counts blocks where GlobalSizeType is CUDA" {
    spec 's/"OpenCL"/"CUDA"/' 's/"X": "(2000.*}/"X": "(2000 \/\/ ITEMS + BLOCK) \/\/ BLOCK"}/'
    tool check spec.json
    succeeds
    says "1 agrees"
}

@test "inputs are generated or come from files, and results are compared with those of a file" {
    spec 's/"FillType": "Random", "FillValue": 1.0/"FillType": "BinaryRaw", "DataSource": "x.bin"/' \
        's/"FillType": "Constant", "FillValue": 0.5/"FillType": "Generator", "DataSource": "(i + 1) \/ 2 if i % 2 == 0 else -i \/\/ 2"/' \
        's/"Arguments": \[/"ReferenceArguments": [{"Name": "r", "TargetName": "y", "FillType": "BinaryRaw", "DataSource": "y.bin", "ValidationThreshold": 0.001}],\n&/'
    python3 - <<'PYTHON'
import array
x = [i * 0.25 for i in range(2000)]
weights = [(i + 1) / 2 if i % 2 == 0 else -i // 2 for i in range(4)]
array.array("f", x).tofile(open("x.bin", "wb"))
array.array("f", [1.5 * weights[i % 4] * v for i, v in enumerate(x)]).tofile(open("y.bin", "wb"))
PYTHON
    tool check spec.json --budget 20
    succeeds
    says "14 "
    says_nothing_of "agree with the baseline"
    printf '\x01\x02\x03\x04' | dd of=y.bin bs=4 seek=1777 conv=notrunc status=none
    tool check spec.json
    fails_with 1 ""
    says "y[1777]"
    rm x.bin
    refused 23 "there is no 'x.bin'"
}

@test "options of the compiler are its own, and name folders of headers" {
    spec 's/"-std=c++17"/"-O3", "-use_fast_math", "-I headers"/'
    mkdir headers
    echo '#define TWICE(x) (2 * (x))' >headers/twice.h
    sed -i '1i #include "twice.h"' scale_t1.cu
    tool inspect spec.json --arch sm_90
    succeeds
    sed -i 's/-I headers/-I header/' spec.json
    tool inspect spec.json --arch sm_90
    fails_with 2 "spec.json:14: "
}

@test "what is wrong with a file is told with its line" {
    spec 's/"CUDA",/"OpenCL",/'
    refused 13 "the Language is 'OpenCL'"
    spec 's/"CompilerOptions"/CompilerOptions/'
    refused 14 "a member's name in quotes is missing"
    spec 's/2\*\*i for i/2**i fore i/'
    refused 6 'it is not understood from here on: fore i in range(4)]'
    spec 's/<= 512/<= BLOK/'
    refused 9 "there is no 'BLOK' here; did you mean 'BLOCK'?"
    spec 's/"Parameters": \["BLOCK"/"Parameters": ["BLOKC"/'
    refused 9 "there is no tuning parameter 'BLOKC'; did you mean 'BLOCK'?"
    spec 's/"Conditions"/"Condition"/'
    refused 8 'did you mean "Conditions"?'
    spec 's/scale_t1.cu/scale.cu/'
    refused 16 "there is no file 'scale.cu'"
    spec 's/"KernelName": "scale"/"KernelName": "scales"/'
    refused 15 "has no kernel 'scales'; did you mean 'scale'?"
    tool "$BATS_TEST_DIRNAME/../../results/nvidia-h200/transpose.json" --device sim
    fails_with 2 "records and measurements are for 'autotune results', 'plot' and 'compare'"
    spec 's/"Name": "factor", "Type": "float"/"Name": "factor", "Type": "double"/'
    refused 25 "argument 3 (factor): the kernel takes float factor, of float, and this is of double"
    spec 's/"-std=c++17"/"-gencode arch=compute_70,code=sm_70"/'
    refused 14 "cannot be honoured: code is made for the device at hand"
    spec '/"factor"/d'
    refused 20 "the kernel takes 4 arguments, and here are 3: the next is int n"
    spec 's/"FillValue": 2000/"FillValue": 2000.5/'
    refused 26 "argument 4 (n): 2000.5 is not whole"
    spec 's/"Random"/"BinaryHDF"/'
    refused 22 "BinaryHDF is not supported"
    spec 's/"Type": "float", "Size": 4/"Type": "floot", "Size": 4/'
    refused 27 "it can be bool, byte,"
    spec 's/2000 .. ITEMS/2000 \/\/ (ITEMS - ITEMS)/'
    tool tune spec.json --device sim:sm_90 --budget 1
    fails_with 2 "spec.json:18: "
    fails_with 2 "GlobalSize.X"
}

@test "what a T1 file lacks is named in its own words" {
    spec
    sed -i 's/k < ITEMS/k < ITEMZ/' scale_t1.cu
    tool check spec.json
    fails_with 2 "Nothing defines ITEMZ: if these are macros, name them in TuningParameters, or give them a value in CompilerOptions: -DNAME=VALUE"
    spec 's/2000/200000000/g'
    tool check spec.json
    [ "$status" -ne 0 ]
    [[ "$output$errors" != *"simulated = {"* ]]
}

@test "what is odd but changes nothing is a warning" {
    spec 's/"Default": 128/"Default": 100/' 's/"Misc"/&/' 's/"CompilerOptions"/"Wish": 1, &/'
    tool space spec.json --arch sm_90
    succeeds
    [[ "$errors" == *"spec.json:5: the Default of BLOCK, 100, is not one of its Values"* ]]
    [[ "$errors" == *'spec.json:14: "Wish" of KernelSpecification is not read'* ]]
    spec 's/"ITEMS"\]/"ITEMS", "UNUSED"]/' 's/"Default": 1}/&, {"Name": "UNUSED", "Type": "bool", "Values": "[True, False]"}/'
    tool space spec.json --arch sm_90
    succeeds
    [[ "$errors" == *"spec.json:6: neither scale_t1.cu nor the launch reads the tuning parameter UNUSED"* ]]
}

same_space() { # same_space SCRIPT: as T1 and read back it has the same configurations
    tool convert "$1" --format t1 --arch sm_90 -o back.json
    succeeds
    tool space "$1" --arch sm_90 --list
    succeeds
    sort <<<"$output" >before.txt
    tool space back.json --arch sm_90 --list
    succeeds
    [ -n "$output" ]
    diff <(sort <<<"$output") before.txt
}

@test "KernelTypeNames are the arguments of a template" {
    spec 's/"KernelName": "scale"/&, "KernelTypeNames": ["float", "3"]/'
    sed -i 's/^__global__/template <typename T, int N> &/; s/const float \*x/const T *x/; s/= factor/= N * factor/' scale_t1.cu
    tool emit spec.json --ptx
    succeeds
    says "scale"
    tool check spec.json --config BLOCK=64
    succeeds
    says "1 agrees"
}

@test "a script that was converted to T1 has the same space when it is read back" {
    spec
    same_space spec.json
    cp "$FIXTURES"/scale.* "$FIXTURES"/scale_ref* .
    same_space scale.lua
    same_space rgb
    tool convert rgb --format t1
    succeeds
    [[ "$errors" == *"the format does not know a reference"* ]]
}

@test "what T1 cannot say is named, with the script's line" {
    tool convert conv2d --format t1
    fails_with 2 "the format describes one launch of one kernel"
}
