# Tests `python -m autotune.t1 spec.json`, which converts the T1 format of other auto-tuners.
load helpers

spec() { # spec SED-EXPRESSION...: writes scale_t1.json, changed by SED, to spec.json, and copies its kernel
    cp "$FIXTURES/scale_t1.cu" .
    local expressions=(-e "")
    for e in "$@"; do expressions+=(-e "$e"); done
    sed "${expressions[@]}" "$FIXTURES/scale_t1.json" >spec.json
    # The expressions must change the file.
    [ $# -eq 0 ] || ! cmp -s spec.json "$FIXTURES/scale_t1.json"
}

converts() { # converts spec.json to spec.lua; sets $warnings to the warnings
    PYTHONPATH=$BATS_TEST_DIRNAME/../../tuner/python python3 -m autotune.t1 spec.json >spec.lua 2>err.txt || {
        cat err.txt
        return 1
    }
    warnings=$(cat err.txt)
}

refused() { # refused LINE TEXT: checks that the conversion fails at this line, with this text
    status=0
    PYTHONPATH=$BATS_TEST_DIRNAME/../../tuner/python python3 -m autotune.t1 spec.json >spec.lua 2>err.txt || status=$?
    errors=$(cat err.txt)
    fails_with 2 "spec.json:$1: "
    fails_with 2 "$2"
    [ "$(wc -l <err.txt)" -eq 1 ]
}

fails_to_load() { # fails_to_load TEXT: checks that the file is converted and the script is refused with this text
    converts
    tool space spec.lua --arch sm_90
    fails_with 2 "$1"
}

@test "a file becomes the same pattern as an equal script" {
    spec
    converts
    tool space spec.lua --arch sm_90
    succeeds
    says "BLOCK 5 32 64 128 192 256"
    says "ITEMS 4 1 2 4 8"
    says "20 points in the product, 14 valid"
    tool inspect spec.lua --arch sm_90
    succeeds
    says "BLOCK=128,ITEMS=1"
    tool emit spec.lua --config BLOCK=64,ITEMS=2 --no-line
    succeeds
    says "#define ITEMS 2"
}

@test "variants of a file are checked, explained, tuned and swept" {
    spec
    converts
    tool check spec.lua --budget 20
    succeeds
    says "14 agree with the baseline, 0 wrong, 0 not proven"
    tool explain spec.lua
    succeeds
    says "Counted in 16 of 16 blocks"
    tool tune spec.lua --device sim:sm_90 --budget 3
    succeeds
    says "its results agree with the baseline's"
    tool sweep spec.lua --device sim:sm_90 --over n=1000,2000 --budget 2
    succeeds
    says "1000 "
}

@test "ProblemSize and GridDiv have the meaning of Kernel Tuner, and sizes may read them" {
    spec 's/"GlobalSize":.*/"ProblemSize": [2000], "GridDivX": ["BLOCK", "ITEMS"], "GlobalSize": {"X": "7"},/' \
        's/"Size": 2000/"Size": "ProblemSize[0] * max(ITEMS) \/\/ 8"/'
    converts
    tool explain spec.lua --config BLOCK=64,ITEMS=2
    succeeds
    says "Counted in 16 of 16 blocks"
    says "problem_size_x=2000"
}

@test "a kernel that reads beyond a size is rejected" {
    spec '0,/"Size": 2000/s//"Size": 1999/'
    converts
    tool check spec.lua
    fails_with 1 ""
    says "scale_t1.cu:9"
    says "x[1999], 0 bytes after the end of x"
}

@test "GlobalSize counts blocks if GlobalSizeType is CUDA" {
    spec 's/"OpenCL"/"CUDA"/' 's/"X": "(2000.*}/"X": "(2000 \/\/ ITEMS + BLOCK) \/\/ BLOCK"}/'
    converts
    tool check spec.lua
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
    converts
    tool check spec.lua --budget 20
    succeeds
    says "14 "
    says_nothing_of "agree with the baseline"
    printf '\x01\x02\x03\x04' | dd of=y.bin bs=4 seek=1777 conv=notrunc status=none
    tool check spec.lua
    fails_with 1 ""
    says "y[1777]"
    rm x.bin
    fails_to_load "there is no file 'x.bin'"
    spec 's/"FillType": "Random", "FillValue": 1.0/"FillType": "Generator", "DataSource": "i * i"/'
    refused 21 "Write them to a file, and use FillType BinaryRaw"
}

@test "compiler options of a file are used, even for folders of headers" {
    spec 's/"-std=c++17"/"-O3", "-use_fast_math", "-I headers"/'
    mkdir headers
    echo '#define TWICE(x) (2 * (x))' >headers/twice.h
    sed -i '1i #include "twice.h"' scale_t1.cu
    converts
    tool inspect spec.lua --arch sm_90
    succeeds
    sed -i 's/-I headers/-I header/' spec.json
    fails_to_load "there is no folder 'header'"
}

@test "errors in a file have its line" {
    spec 's/"CUDA",/"OpenCL",/'
    refused 12 "the Language is 'OpenCL'"
    spec 's/"CompilerOptions"/CompilerOptions/'
    refused 14 "Expecting property name enclosed in double quotes"
    spec 's/2\*\*i for i/2**i fore i/'
    refused 6 "this is not a Python expression"
    spec 's/<= 512/<= BLOK/'
    refused 9 "there is no 'BLOK' here; did you mean 'BLOCK'?"
    spec 's/"Parameters": \["BLOCK"/"Parameters": ["BLOKC"/'
    refused 9 "there is no tuning parameter 'BLOKC'; did you mean 'BLOCK'?"
    spec 's/"Conditions"/"Condition"/'
    refused 3 'did you mean "Conditions"?'
    spec 's/scale_t1.cu/scale.cu/'
    refused 12 "KernelFile: scale.cu: No such file"
    spec 's/"KernelName": "scale"/"KernelName": "scales"/'
    fails_to_load "did you mean 'scale'?"
    spec 's/"Name": "factor", "Type": "float"/"Name": "factor", "Type": "double"/'
    fails_to_load "the kernel's parameter is float factor"
    spec 's/"-std=c++17"/"-gencode arch=compute_70,code=sm_70"/'
    converts
    tool inspect spec.lua --arch sm_90
    fails_with 2 "code is compiled for the current device"
    spec '/"factor"/d'
    fails_to_load "the kernel takes 4 arguments"
    spec 's/"FillValue": 2000/"FillValue": 2000.5/'
    refused 26 "argument 4 (n): 2000.5 is not a whole number"
    spec 's/"Random"/"BinaryHDF"/'
    refused 21 "it must be one of BinaryRaw, Constant"
    spec 's/"Type": "float", "Size": 4/"Type": "floot", "Size": 4/'
    refused 27 "it must be one of bool, byte,"
    spec 's/2000 .. ITEMS/2000 \/\/ (ITEMS - ITEMS)/'
    converts
    tool tune spec.lua --device sim:sm_90 --budget 1
    fails_with 2 "spec.lua:"
    fails_with 2 "launch.grid[1]"
}

@test "suspicious but harmless fields are warnings" {
    spec 's/"Default": 128/"Default": 100/' 's/"Misc"/&/' 's/"CompilerOptions"/"Wish": 1, &/'
    converts
    tool space spec.lua --arch sm_90
    succeeds
    [[ "$warnings" == *"spec.json:5: the Default of BLOCK, 100, is not one of its Values"* ]]
    [[ "$warnings" == *'spec.json:12: "Wish" of KernelSpecification is not read'* ]]
    spec 's/"Parameters": \["BLOCK", /"Parameters": [/'
    converts
    [[ "$warnings" == *"spec.json:9: Parameters does not name BLOCK, which the Expression reads"* ]]
}

@test "KernelTypeNames are the arguments of a template" {
    spec 's/"KernelName": "scale"/&, "KernelTypeNames": ["float", "3"]/'
    sed -i 's/^__global__/template <typename T, int N> &/; s/const float \*x/const T *x/; s/= factor/= N * factor/' scale_t1.cu
    converts
    tool emit spec.lua --ptx
    succeeds
    says "scale"
    tool check spec.lua --config BLOCK=64
    succeeds
    says "1 agrees"
}

@test "autotune names the command that converts a T1 file" {
    spec
    tool space spec.json --arch sm_90
    fails_with 2 "To convert a T1 file, run 'python -m autotune.t1 spec.json > pattern.lua'"
    tool tune "$BATS_TEST_DIRNAME/../../results/nvidia-h200/transpose.json" --device sim
    fails_with 2 "for records and measurements, use 'autotune results', 'plot' or 'compare'"
    tool convert spec.lua --format t1
    fails_with 2 "kernel-tuner"
}
