load helpers

# Writes a record of the fixture pattern `scale`. For n = 4096, the best vector width is 4.
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

@test "pick prints the configuration that a program gets, and the rule" {
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

@test "pick explains its rule: near problems, records of other GPUs, or no records" {
    tool pick "$FIXTURES/scale.lua" --gpu sm_90
    succeeds
    says "why       the script's default, because there are no results of this pattern in"
    record
    tool pick "$FIXTURES/scale.lua" --set n=4096 --gpu nvidia-h200
    says "why       measured on this GPU and this problem"
    tool pick "$FIXTURES/scale.lua" --set n=8192 --gpu nvidia-h200
    says "the nearest is n=4096"
    tool pick "$FIXTURES/scale.lua" --set n=4096 --gpu sm_80
    says "there are results only of NVIDIA H200 (sm_90), whose major compute capability"
    tool pick "$FIXTURES/scale.lua" --gpu h20
    fails_with 2 "'NVIDIA H200' (or nvidia-h200), "
    tool pick "$FIXTURES/scale.lua" --set n=4096 --gpu h200
    succeeds
    says "rule      exact"
    tool pick dot --gpu h100 --results "$BATS_TEST_DIRNAME/../../results"
    succeeds
    says "on NVIDIA H100 80GB HBM3"
    # A word that is in the names of several GPUs selects no GPU.
    tool pick dot --gpu nvidia --results "$BATS_TEST_DIRNAME/../../results"
    fails_with 2 "there are no results of a GPU 'nvidia'"
    tool pick conv2d --set rows=1000 --gpu nvidia-h200 --results "$BATS_TEST_DIRNAME/../../results"
    says "rule      portfolio"
    says "the tree of its portfolio chooses configuration"
}

@test "configurations that a constraint forbids for the problem are not chosen, and pick names the constraint" {
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

@test "a configuration that was no faster than the default on a near problem is not chosen, and pick names that problem" {
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

@test "a default chosen by the portfolio is reported as such, and each refusal is reported once" {
    tool pick transpose --set rows=500 --set cols=1501 --gpu nvidia-h200 --results "$BATS_TEST_DIRNAME/../../results"
    succeeds
    says "rule      default, which the portfolio chose"
    says "the tree of the portfolio of NVIDIA H200 chooses the"
    says "more of them (--json lists all)"
    [ "$(grep -c 'decision tree of its portfolio' out.txt)" = 1 ]
    tool pick transpose --set rows=500 --set cols=1501 --gpu nvidia-h200 --json --results "$BATS_TEST_DIRNAME/../../results"
    [ "$(jq -r .rule out.txt)" = default ]
    [ "$(jq '.refused | length' out.txt)" -gt 5 ]
}

@test "a message about a GPU without records lists the GPUs with records" {
    record
    tool pick "$FIXTURES/scale.lua" --gpu nonsense
    fails_with 2 "'NVIDIA H200'"
}

@test "emit --best prints the source of pick's choice, with its launch" {
    record
    tool emit "$FIXTURES/scale.lua" --best --set n=4096 --arch sm_90
    succeeds
    says "// scale: block=128,vec=4,cached=true"
    says "// by rule: same_capability"
    says "// scale: grid 8 x 1 x 1, block 128 x 1 x 1, 0 bytes of dynamic shared memory"
    says "//   arguments: src, dst, 8 bytes 0x0000000000001000, 8 bytes 0x4008000000000000"
    says "__global__"
    tool emit "$FIXTURES/scale.lua" --best --config block=128
    fails_with 2 "--best and --config both choose the configuration"
}

# Writes a record of the fixture pattern `clustered`.
clustered() { # clustered SIZE BALANCED WAITS
    mkdir -p results/nvidia-h200
    cat >results/nvidia-h200/clustered.json <<END
{"schema": "autotune-record", "version": 1, "pattern": "clustered", "gpu": "NVIDIA H200",
 "compute_capability": "9.0", "entries": [{"problem": {"n": 4096},
 "configuration": {"size": $1, "balanced": $2, "waits": $3},
 "baseline": {"configuration": {"size": 1, "balanced": false, "waits": false}},
 "time": {"median_ns": 1000, "low_ns": 990, "high_ns": 1010}}]}
END
    tool emit "$FIXTURES/clustered.lua" --best --arch sm_90
    succeeds
    says "// clustered: size=$1,balanced=$2,waits=$3"
    says "// good: grid 32 x 1 x 1, block 128 x 1 x 1, 0 bytes of dynamic shared memory"
}

attributes_are() { # attributes_are [TEXT]: checks the lines between the launch's first line and its arguments
    { echo "// good: "; [ $# -eq 0 ] || echo "//   attributes: $1"; echo "//   arguments: "; } >expected.txt
    grep -E '^//( good:|   )' out.txt | sed -E 's/^(\/\/ good: |\/\/   arguments: ).*/\1/' | diff expected.txt -
}

@test "emit --best prints the attributes of a launch: cluster, scheduling policy, cooperation of blocks" {
    clustered 4 false false
    attributes_are "cluster 4 x 1 x 1"
    clustered 2 true false
    attributes_are "cluster 2 x 1 x 1, balanced (load-balancing policy)"
    clustered 1 false true
    attributes_are "cooperative"
    clustered 4 true true
    attributes_are "cluster 4 x 1 x 1, balanced (load-balancing policy), cooperative"
}

@test "emit --best prints no attributes for a plain launch, and no balancing for clusters of one block" {
    clustered 1 false false
    attributes_are
    clustered 1 true false
    attributes_are
}

# Copies the fixture pattern `separable` with its kernel's line changed by SED-COMMAND. Writes a record of the pattern.
separable() { # separable SED-COMMAND
    mkdir -p results/nvidia-h200
    cp "$FIXTURES"/separable* .
    sed -i "$1" separable.lua
    cat >results/nvidia-h200/separable.json <<'END'
{"schema": "autotune-record", "version": 1, "pattern": "separable", "gpu": "NVIDIA H200",
 "compute_capability": "9.0", "entries": [{"problem": {"rows": 2048, "cols": 2048, "radius": 2},
 "configuration": {"block_x": 64, "block_y": 2, "columns": "direct", "tile_y": 4},
 "baseline": {"configuration": {"block_x": 32, "block_y": 4, "columns": "direct", "tile_y": 4}},
 "time": {"median_ns": 1000, "low_ns": 990, "high_ns": 1010}}]}
END
    tool emit separable.lua --best --arch sm_90
    succeeds
    says "// separable: block_x=64,block_y=2,columns=direct,tile_y=4"
}

@test "emit --best prints the contents of the source's variables, and the compiler options" {
    separable ''
    says "// constants: taps = weights (20 bytes)"
    lacks '^// compiled with:' out.txt
    separable 's/constants = { taps = "weights" }/&, options = { "--use_fast_math", "--fmad=false" }/'
    says "// compiled with: --use_fast_math --fmad=false"
}

@test "emit --best does not mention variables if the source has none to fill" {
    record
    tool emit "$FIXTURES/scale.lua" --best --set n=4096 --arch sm_90
    succeeds
    lacks -E '^// (constants|compiled with):' out.txt
}
