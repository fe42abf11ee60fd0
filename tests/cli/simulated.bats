load helpers

@test "a space with every kind of outcome names each and finds a right winner" {
    # On a GPU, the first right variant is by far the fastest. On a simulated device the problem is so small that all
    # right variants take the same time. The budget counts variants, because the default is 40 seconds.
    tool "$FIXTURES/mixed_outcomes.lua" --device sim:sm_90 --budget 12 --json --quiet
    succeeds
    for expected in '"ok": 5' '"compile_error": 4' '"wrong_result": 1' '"crashed": 1' '"timeout": 1'; do
        says "$expected"
    done
    says '"fault": "none"'
}

@test "a variant that executes an unsupported instruction ends as not_simulated, with the instruction and its line" {
    cp "$FIXTURES"/scale* .
    sed -i '0,/^{$/s//{\n% if block == 64 then\n    asm volatile("brkpt;");\n% end/' scale.cu.tmpl
    tool scale.lua --device sim:sm_90 --only vec=1 --only block=32,64 --json --quiet
    succeeds
    says '"not_simulated": 1'
    says '"launch_error": 0'
    says 'not simulated in scale at scale.cu.tmpl:'
    says '(brkpt'
}

@test "spill's sweep names the threshold at which registers run out" {
    tool inspect spill.lua --over live=32,64,96 --over max_registers=64,255 --arch sm_90
    succeeds
    says 'max_registers=64: spills begin at live=64'
    says 'max_registers=255'
}

@test "every shipped pattern runs on a simulated device" {
    for pattern in bank_conflict dot misaligned spill strided transpose vector_add; do
        tool "$pattern" --device sim:sm_90 --strategy random --budget 1 --json --quiet
        succeeds
        says '"ok": 1'
    done
}

@test "a run on a simulated device says that its times are predicted, and why a read beats a copy" {
    tool dot --device sim --budget 3 --prove all --json --quiet
    succeeds
    jq -r '.warnings[]' out.txt >warnings
    grep -q -- "--prove all is ignored without a GPU: 'autotune check' with a --budget proves variants" warnings
    grep -q "of a copy of the same bytes: it mostly reads, which is faster than a copy, and a simulated device predicts only copies" warnings
}

@test "a fault of the reference kernel is the script's error, with its line" {
    cp "$FIXTURES"/scale* .
    sed -i 's/if (i < n)/if (i <= n)/' scale_ref.cu.tmpl
    tool scale.lua --device sim:sm_90 --budget 1 --quiet
    fails_with 2 "scale_ref.cu.tmpl:2: the reference kernel: out of bounds"
    fails_with 2 "at scale_ref.cu.tmpl:7"

    sed -i 's/if (i <= n)/if (i < n - 1)/' scale_ref.cu.tmpl
    tool scale.lua --device sim:sm_90 --budget 1 --quiet
    fails_with 2 "scale_ref.cu.tmpl:2: two runs of the reference kernel give different dst"
}

@test "patterns of several launches run, timed and checked as a whole" {
    # The patterns have two launches; one or two launches; and groups of launches that run in rounds.
    for pattern in separable two_pass_sum stepped; do
        tool "$FIXTURES/$pattern.lua" --device sim:sm_90 --strategy random --budget 2 --json --quiet
        succeeds
        says '"ok": 2'
    done
}

@test "CUDA arrays of every shape are read and written, by surfaces and textures" {
    tool check "$FIXTURES/surfaced.lua" --device sim:sm_90 --budget 100
    succeeds
    says '16 proven, 0 wrong, 0 not proven'
}

@test "a mistake in the second launch is a wrong result" {
    sed 's/dst\[(top + i) \* ${cols} + x\] = sum/dst[(top + i) * ${cols} + x] = sum + (x == 5)/' \
        "$FIXTURES/separable.cu.tmpl" >separable.cu.tmpl
    cp "$FIXTURES/separable.lua" "$FIXTURES/separable_ref.cu.tmpl" .
    tool separable.lua --device sim:sm_90 --strategy random --budget 2 --quiet
    [ "$status" -eq 1 ]
    says "elements of dst are wrong"
}

@test "predictions that the model cannot distinguish are called tied, and none is called the best" {
    tool "$FIXTURES/scale.lua" --device sim:sm_90 --budget 6 --quiet --no-record --only vec=4
    succeeds
    says "tied with"
    says "one of them"
}

@test "options that need a GPU are refused on a simulated device" {
    tool "$FIXTURES/scale.lua" --device sim:sm_90 --objective energy --budget 2
    fails_with 2 "--objective energy is refused: energy can be measured on a real GPU only"
}

@test "a layout is a parameter, and each layout has its own data and reference" {
    # The script's own problem has four million particles, which the reference and each prediction would prepare.
    tool "$FIXTURES/particles.lua" --device sim:sm_90 --set n=16384 --json --quiet
    succeeds
    says '"ok": 16'
    tool check "$FIXTURES/particles.lua" --config layout=tiles,tile=8 --set n=49152
    succeeds
    says "blocks of the tuned problem"
}

@test "all layouts of particles are in one space" {
    tool aos_soa --set layout=any --device sim:sm_90 --strategy random --budget 8 --json --quiet
    succeeds
    says '"ok": 8'
    tool check aos_soa --set layout=any --config arrangement=tiles_64,algorithm=vector,width=2
    succeeds
}

@test "sparse matrices and constant coefficients are filled and checked" {
    for pattern in csr luma; do
        tool "$FIXTURES/$pattern.lua" --device sim:sm_90 --strategy random --budget 8 --json --quiet
        succeeds
        says '"ok": 8'
    done
}

@test "a fault of the kernel that prepares inputs is the script's error" {
    cp "$FIXTURES"/particles* .
    sed -i 's/if (i >= ${n})/if (i > ${n})/' particles_fill.cu.tmpl
    tool particles.lua --device sim:sm_90 --budget 1 --quiet
    fails_with 2 "the kernel that prepares inputs"
}

@test "variants with equal source or machine code are tried once and reported as twins" {
    tool "$FIXTURES/twins.lua" --device sim:sm_90 --json --quiet --top 100
    succeeds
    says '"twins": 20,'
    says '"ok": 24,'
    # Each twin must have the same outcome as in a run without its twins.
    cp out.txt merged.json
    tool "$FIXTURES/twins.lua" --only note=3 --only name=index --device sim:sm_90 --json --quiet --top 100
    says '"twins": 0,'
    python3 - merged.json out.txt <<'PYTHON'
import json, sys
merged, alone = (json.load(open(path)) for path in sys.argv[1:])
times = {(r["config"]["block"], r["config"]["width"]): (r["time_ns"], r["registers"]) for r in alone["results"]}
assert len(times) == 4 and len(merged["results"]) == 24
for r in merged["results"]:
    assert times[r["config"]["block"], r["config"]["width"]] == (r["time_ns"], r["registers"]), r
    twin = r["twin_of"]
    assert twin is None or (twin["block"], twin["width"]) == (r["config"]["block"], r["config"]["width"]), r
assert sum(r["twin_of"] is None for r in merged["results"]) == 4
PYTHON

    tool "$FIXTURES/twins.lua" --device sim:sm_90 --quiet
    says "20 variants have the machine code of another"
    says "the same machine code: "
}

@test "the learning strategy tries the same variants with any number of compile workers" {
    local tried script
    for script in twins scale; do
        for jobs in 1 4; do
            tool "$FIXTURES/$script.lua" --device sim:sm_90 --strategy surrogate --budget 7 --seed 7 --jobs $jobs --json \
                 --quiet --top 100
            succeeds
            tried=$(python3 -c 'import json, sys
print(sorted(str(r["config"]) for r in json.load(open("out.txt"))["results"]))')
            [ "$jobs" -gt 1 ] || echo "$tried" >first.txt
            [ "$tried" = "$(cat first.txt)" ] || { echo "$script with $jobs jobs: $tried"; return 1; }
        done
    done
}

@test "times are predicted for the tuned problem of any size, or for the problem of --set" {
    for n in 1048576 4096 268435456; do
        tool "$FIXTURES/scale.lua" --device sim --budget 2 --quiet --set n=$n
        succeeds
        says "n=$n "
        says "pred. GB/s"
        says_nothing_of "a smaller problem"
    done
}

@test "variants that are equal on a small problem are ranked by the tuned problem" {
    tool transpose.lua --device sim:sm_90 --only algorithm=naive,tile --only tile_x=32 --only tile_y=32 --only block_rows=8 \
        --only load_vec=4 --only store_vec=4 --only order=linear --only load_hint=none --only store_hint=none \
        --only pad=0,1 --only swizzle=none --only tiles=1 --quiet --json
    succeeds
    python3 - <<'PY'
import json
run = json.load(open("out.txt"))
time_ns = [r["time_ns"] for r in run["results"]]
assert len(time_ns) == 3 and time_ns == sorted(time_ns) and time_ns[0] > 1e5, run["results"]
assert run["results"][2]["config"]["algorithm"] == "naive" and not run["results"][2]["tied"], run["results"]
assert all(r["ci_ns"][0] < r["time_ns"] < r["ci_ns"][1] for r in run["results"]), run["results"]
PY
}

@test "the output has the interval of the winner's prediction, and says whether the default is inside it" {
    tool "$FIXTURES/scale.lua" --device sim:sm_90 --budget 4 --quiet
    succeeds
    grep -Eq '^interval +[0-9.]+ us to [0-9.]+ us' out.txt
    says "lies inside: it may be as fast"
}

@test "importance and plots of a simulated run use the times that decided" {
    cp "$FIXTURES"/scale* .
    tool scale.lua --device sim:sm_90 --only cached=true --only vec=1,4 --json --top 1000000 --quiet
    succeeds
    cp out.txt run.json
    tool importance run.json
    succeeds
    says_nothing_of 'small problem'
    tool importance run.json --json
    python3 - <<'PY'
import json
run, found = json.load(open("run.json")), json.load(open("out.txt"))
best = min((r for r in run["results"] if r["outcome"] == "ok"), key=lambda r: r["time_ns"])
assert run["best"]["time_ns"] == best["time_ns"], (run["best"], best)
PY
}

@test "a run with a budget in seconds ends in time, with a winner, although a variant would take longer" {
    local start end
    start=$(date +%s%N)
    tool matmul.lua --device sim:h100 --set m=1024 --set n=1024 --set k=1024 --budget 6s --quiet --json
    end=$(date +%s%N)
    succeeds
    says '"end": "seconds"'
    [ $(((end - start) / 1000000)) -le 8500 ]
    python3 -c 'import json; assert json.load(open("out.txt"))["best"]["time_ns"] > 0'
}

@test "a run without a budget ends when no remaining variant is likely to win" {
    cp "$FIXTURES"/scale* .
    sed -i 's/at.pow2(32, 1024)/at.range(32, 1024, 16)/' scale.lua
    tool scale.lua --device sim:h100 --set n=16384 --quiet
    succeeds
    says "variants were left out"
    says "(--effort exhaustive tries all)"
    tool scale.lua --device sim:h100 --set n=16384 --only block=64,80,96 --effort exhaustive --quiet --json
    succeeds
    says '"end": "exhausted"'
}

@test "the command that explains the winner is short, and may be copied from a terminal of any width" {
    tool "$FIXTURES/scale.lua" --device sim:sm_90 --budget 9 --quiet --only block=64 --only cached=false
    succeeds
    best=$(sed -n 's/^best  *//p; s/^one of them  *//p' out.txt)
    for columns in 60 200; do
        COLUMNS=$columns tool "$FIXTURES/scale.lua" --device sim:sm_90 --budget 9 --quiet --only block=64 --only cached=false
        sed -n '/^explain/,/^variants/p' out.txt | sed '/^variants/d; s/^explain//' >command.txt
        lacks 'vec=1,' command.txt
        autotune() { tool "$@"; }
        . ./command.txt
        succeeds
        COLUMNS=200 . ./command.txt
        says "on a simulated sm_90: $best"
    done
}

@test "a list of --config may be broken after its commas" {
    tool emit "$FIXTURES/scale.lua" --arch sm_90 --config block=64,vec=2,cached=false
    cp out.txt whole.txt
    tool emit "$FIXTURES/scale.lua" --arch sm_90 --config 'block=64,
        vec=2,
        cached=false'
    succeeds
    cmp out.txt whole.txt
}

@test "a small tuned problem is compared completely, even with a large ragged problem" {
    cp "$FIXTURES"/scale*.tmpl "$FIXTURES"/scale.lua .
    sed -i 's/n = 1 << 20,/n = 1000,/; s/ragged  = { n = 1003 }/ragged = { n = (1 << 24) + 5 }/' scale.lua
    sed -i '0,/^{$/s//{\n    if (n == 1000 \&\& threadIdx.x == 3)\n        return;/' scale.cu.tmpl
    tool scale.lua --device sim:sm_90 --budget 3 --quiet
    [ "$status" -eq 1 ]
    says '3 wrong_result'
}

@test "the command that explains a winner names the chip of the run" {
    cp "$FIXTURES"/scale* .
    for chip in h100 sm_80; do
        tool scale.lua --device sim:$chip --budget 2 --quiet
        succeeds
        says "explain     autotune explain scale.lua --device sim:$chip"
    done
}
