load helpers

# A record of the fixture pattern `scale`: vectors of 4 for n = 4096.
record() {
    mkdir -p results/nvidia-h200
    cat >results/nvidia-h200/scale.json <<END
{"schema": "autotune-record", "version": 1, "pattern": "scale", "gpu": "NVIDIA H200",
 "compute_capability": "9.0", "entries": [{"problem": {"n": 4096, "scale": 3.0, "dtype": "float"},
 "configuration": {"block": 128, "vec": 4, "cached": true},
 "baseline": {"configuration": {"block": 256, "vec": 1, "cached": true}},
 "time": {"median_ns": 1000, "low_ns": 990, "high_ns": 1010}}]}
END
}

@test "pick says what a program gets and by which rule" {
    record
    tool pick "$FIXTURES/scale.lua" --set n=4096 --gpu nvidia-h200
    succeeds
    says "gives     block=128,vec=4,cached=true"
    says "rule      exact"
    tool pick "$FIXTURES/scale.lua" --set n=8192 --gpu "NVIDIA H200"
    says "rule      nearest_problem"
    tool pick "$FIXTURES/scale.lua" --set n=8192 --gpu sm_90
    says "rule      same_capability"
}

@test "what a constraint forbids for the problem is not given, and pick names the constraint" {
    record
    tool pick "$FIXTURES/scale.lua" --set n=4099 --gpu nvidia-h200
    succeeds
    says "gives     block=256,vec=1,cached=true"
    says "rule      default"
    says "n % vec == 0"
    tool pick "$FIXTURES/scale.lua" --set n=4099 --gpu nvidia-h200 --json
    says '"vec": 1'
    says '"why": "breaks line'
}

@test "what was no faster than the default nearby is not given, and pick says where" {
    record
    sed -i 's/"cached": true}},/"cached": true}, "time": {"median_ns": 1005, "low_ns": 995, "high_ns": 1015}},/' \
        results/nvidia-h200/scale.json
    tool pick "$FIXTURES/scale.lua" --set n=8192 --gpu nvidia-h200
    succeeds
    says "rule      default"
    says "not       nearest_problem, n=4096"
    says "no faster than the default beyond noise at n=4096"
    tool emit "$FIXTURES/scale.lua" --best --set n=8192 --arch sm_90
    says "// scale: block=256,vec=1,cached=true"
    tool pick "$FIXTURES/scale.lua" --set n=4096 --gpu nvidia-h200
    says "rule      exact"
}

@test "a GPU that nothing is recorded of is told with those that are" {
    record
    tool pick "$FIXTURES/scale.lua" --gpu nonsense
    fails_with 2 "'NVIDIA H200'"
}

@test "emit --best prints the source of what pick gives, with its launch" {
    record
    tool emit "$FIXTURES/scale.lua" --best --set n=4096 --arch sm_90
    succeeds
    says "// scale: block=128,vec=4,cached=true"
    says "// by rule: same_capability"
    says "// scale: grid 8 x 1 x 1, block 128 x 1 x 1, 0 bytes of dynamic shared memory"
    says "//   arguments: src, dst, 8 bytes 0x0000000000001000, 8 bytes 0x4008000000000000"
    says "__global__"
    tool emit "$FIXTURES/scale.lua" --best --config block=128
    fails_with 2 "--best is a configuration"
}
