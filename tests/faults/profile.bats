load helpers

# Uses the fake driver and a CUPTI whose counts the test sets.
counting() {
    gpu
    needs_the_fake
    export AUTOTUNE_LIBCUPTI=${FAKE_CUPTI:?}
}

@test "profile prints the GPU's counts beside the simulated device's, by Nsight Compute's names" {
    counting
    # 4,096 floats are 128 requests of four sectors, for loads and for stores.
    export FAKE_CUPTI_COUNTS=l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum=512,l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum=640
    tool profile "$TIMED" --device cuda:0
    succeeds
    [[ "$output" =~ 'global load sectors '\ +512\ +512\ +no ]]
    [[ "$output" =~ 'global store sectors '\ +640\ +512\ +'-20.00 %' ]]
    says '    l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum'
    [ "$(awk '{ if (length($0) > most) most = length($0) } END { print most }' out.txt)" -le 80 ]
}

@test "profile --json has both counts of each launch, and --metrics selects the metrics" {
    counting
    tool profile "$TIMED" --device cuda:0 --config a=10,b=6 --json \
        --metrics l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum,dram__bytes_read.sum
    succeeds
    python3 - out.txt <<'END'
import json, sys
run = json.load(open(sys.argv[1]))
assert run["config"] == {"a": 10, "b": 6} and run["time_ns"] == 24000 and run["problem"] == {"n": 4096}, run
(launch,) = run["launches"]
assert launch["entry"] == "timed", launch
assert launch["counters"] == {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": 4700,
                              "dram__bytes_read.sum": 2000}, launch
assert launch["simulated"] == {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": 128}, launch
END
}

@test "the variant runs once in each pass, and each launch has its own range" {
    counting
    export FAKE_CUPTI_PASSES=2 FAKE_CUPTI_LOG=$WORK/log
    tool profile "$TIMED" --device cuda:0
    succeeds
    [ "$(tr '\n' ';' <log)" = "pass;range 0000;pass;range 0000;disable;" ]
}

@test "a counter that the chip lacks is left out by default, and an error in --metrics" {
    counting
    tool profile "$TIMED" --device cuda:0 --metrics dram__bytes_read.sum,no__such.sum
    fails_with 2 "has no counter 'no__such.sum'"
    tool profile "$TIMED" --device cuda:0 --metrics dram__bytes_read
    fails_with 2 "has no counter 'dram__bytes_read'"
}

@test "an error of CUPTI gives exit code 3 and names the call" {
    counting
    FAKE_CUPTI_FAIL=cuptiRangeProfilerStart=999 tool profile "$TIMED" --device cuda:0
    fails_with 3 "the counters cannot be read: cuptiRangeProfilerStart failed: FAKE_ERROR_999"
}

@test "if counters are not permitted, the message says how to permit them" {
    counting
    FAKE_CUPTI_FAIL=cuptiRangeProfilerEnable=35 tool profile "$TIMED" --device cuda:0
    fails_with 3 "ERR_NVGPUCTRPERM"
    [[ "$errors" == *NVreg_RestrictProfilingToAdminUsers=0* ]]
    FAKE_CUPTI_FAIL=cuptiRangeProfilerEnable=26 tool profile "$TIMED" --device cuda:0
    fails_with 3 "another profiler holds the counters"
}

@test "without CUPTI, or with an old CUPTI, profile says what is missing and where to get it" {
    counting
    AUTOTUNE_LIBCUPTI=$WORK/none.so tool profile "$TIMED" --device cuda:0
    fails_with 3 "there is no CUPTI library"
    AUTOTUNE_LIBCUPTI=$FAKE_NVML tool profile "$TIMED" --device cuda:0
    fails_with 3 "the CUPTI library is too old: it has no cuptiProfilerInitialize"
}

@test "a variant that is wrong is not counted: exit code 1" {
    counting
    sed 's/"timed"/"skips_last"/; s/, at.uint64 "20000.*" }/ }/; s/"dst", at/"dst", at/' "$BATS_TEST_DIRNAME/timed.lua" >wrong.lua
    cp "$BATS_TEST_DIRNAME"/timed*.tmpl .
    sed -i 's/\btimed\b/skips_last/; s/unsigned long long n,/unsigned long long n)/; /unsigned long long time_ns)/d; s/begin < time_ns/begin < 0/' timed.cu.tmpl
    tool profile wrong.lua --device cuda:0
    fails_with 1 "wrong_result, and not counted"
}

@test "on a simulated device profile exits with 3 and names the command that simulates" {
    tool profile "$FIXTURES/scale.lua" --device sim:sm_90
    fails_with 3 "autotune explain"
}

@test "the comparison with ncu passes if both count the same, and fails otherwise" {
    counting
    # This ncu prints the counts of the fake CUPTI for one launch, except for the loaded sectors.
    cat >ncu <<'END'
#!/usr/bin/env python3
import sys
metrics = sys.argv[sys.argv.index("--metrics") + 1].split(",")
print('"ID","Metric Name","Metric Value"')
for i, name in enumerate(metrics):
    count = open("loads").read().strip() if name.endswith("sectors_pipe_lsu_mem_global_op_ld.sum") else f"{1000 + i:,}"
    print(f'"0","{name}","{count}"')
END
    chmod +x ncu
    metrics=$(python3 - "$BATS_TEST_DIRNAME/../bench" <<'END'
import sys
sys.path.insert(0, sys.argv[1])
from counters_vs_ncu import GLOBAL, MORE, SHARED
print(",".join(f"{name}={512 if 'sectors_pipe_lsu_mem_global_op_ld' in name else 1000 + i}"
               for i, name in enumerate(GLOBAL + SHARED + MORE)))
END
)
    compare() {
        status=0
        FAKE_CUPTI_COUNTS=$metrics python3 "$BATS_TEST_DIRNAME/../bench/counters_vs_ncu.py" "$(dirname "$AUTOTUNE")/.." --profile \
            --ncu ./ncu --variant "${TIMED%.lua}" a=11,b=5 n=4096 >out.txt 2>err.txt || status=$?
        output=$(cat out.txt)
        errors=$(cat err.txt)
    }
    echo 515 >loads
    compare
    succeeds
    says '1 variants compared, 0 failed'
    says '512 / 515 |'
    echo 530 >loads
    compare
    [ "$status" -eq 1 ]
    says '512 / 530 !'
}

@test "the comparison with ncu does not count accesses of other warps to banks as conflicts" {
    tool explain bank_conflict --json --config element=4 --set n=4096 --set stride=2 --set passes=1
    succeeds
    echo "$output" >simulated.json
    # This ncu prints the simulated counts, plus 37 for the banks' accesses.
    cat >ncu <<'END'
#!/usr/bin/env python3
import json, os, sys
counts = json.load(open("simulated.json"))["metrics"]
more = int(os.environ.get("MORE", 0))
print('"ID","Metric Name","Metric Value"')
for name in sys.argv[sys.argv.index("--metrics") + 1].split(","):
    count = counts[name.replace("smsp__sass_l1tex_", "l1tex__")]
    count += more if name.startswith("smsp__sass_") else 37 if name.startswith("l1tex__data_") else 0
    print(f'"0","{name}","{count}"')
END
    chmod +x ncu
    compare() {
        status=0
        output=$(python3 "$BATS_TEST_DIRNAME/../bench/counters_vs_ncu.py" "$(dirname "$AUTOTUNE")/.." --ncu ./ncu \
            --variant bank_conflict element=4 n=4096,stride=2,passes=1 2>&1) || status=$?
    }
    compare
    succeeds
    says '1 variants compared, 0 failed'
    says '| 37 | 37 |'
    # If the wavefronts of the instructions also grow by 37, these are conflicts.
    export MORE=37
    compare
    [ "$status" -eq 1 ]
    says '| 0 | 0 |'
}
