load helpers

# Writes a recorded space of 64 configurations as T4 results. The cost is 1 + the distance to (3, 5). Some
# configurations fail.
make_recorded() {
    awk 'BEGIN {
        printf "{\"schema_version\": \"1.0.0\", \"results\": ["
        for (x = 0; x < 8; x++) for (y = 0; y < 8; y++) {
            ok = x != y || x < 6
            printf "%s{\"configuration\": {\"x\": %d, \"y\": %d}, \"times\": {\"compilation\": 400, \"runtimes\": [600]}, \"invalidity\": \"%s\", \"correctness\": %d, \"measurements\": [{\"name\": \"time\", \"value\": %d}], \"objectives\": [\"time\"]}", (x || y) ? ", " : "", x, y, ok ? "correct" : "runtime", ok, 1 + (x - 3) ^ 2 + (y - 5) ^ 2
        }
        print "]}"
    }' >recorded.json
}

@test "a replay gives shares, scores and the number of seeds as JSON" {
    make_recorded
    tool replay recorded.json --strategy random --repeat 50 --seed 3 --json
    succeeds
    says '"seeds": 50'
    says '"configurations": 64'
    says '"failed": 2'
    [[ "$output" =~ \"share_at\":\ \{[^}]*\"10\":\ 0\.[0-9]+ ]]
    [[ "$output" =~ \"score\":\ -?0\.[0-4] ]]
}

@test "replays with the same seed are equal" {
    make_recorded
    tool replay recorded.json --repeat 5 --seed 7 --json
    succeeds
    cp out.txt first.txt
    tool replay recorded.json --repeat 5 --seed 7 --json
    cmp first.txt out.txt
}

@test "the figures of a replay do not depend on the number of cores" {
    make_recorded
    tool replay recorded.json --repeat 20 --json
    succeeds
    taskset -c "$(taskset -cp $$ | grep -o '[0-9]*$')" "$AUTOTUNE" replay recorded.json --repeat 20 \
        --json >one_core.txt
    cmp out.txt one_core.txt
}

@test "without --json a replay shows its curve beside that of random search" {
    make_recorded
    gzip recorded.json
    tool replay recorded.json.gz --strategy surrogate --repeat 5
    succeeds
    says "strategy surrogate, 5 seeds"
    says "share of optimum"
}

# Prints a T4 file with the metadata META, whose measurements have the unit UNIT.
t4_of() { # t4_of UNIT META
    printf '{"schema_version": "1.0.0", %s "results": [' "$2"
    for b in 32 64; do
        [ $b = 32 ] || printf ,
        printf '{"configuration": {"B": %d}, "objectives": ["D"], "times": {"compilation_time": 2e6, "runtimes": [%d]}, "invalidity": "correct", "measurements": [{"name": "D", "value": %d, "unit": "%s"}]}' $b $b $b "$1"
    done
    echo ']}'
}

@test "times of T4 have the unit of the file, or milliseconds without a unit" {
    for case in 'Microseconds:2.00 s' 'us:2.00 s' 'ns:0.00 s' 'ms:33 min'; do
        t4_of "${case%%:*}" '' >t4.json
        tool replay t4.json --strategy random --repeat 1
        succeeds
        says "${case#*:}"
    done
    t4_of ms '"metadata": {"timeunit": "microseconds"},' >t4.json
    tool replay t4.json --strategy random --repeat 1
    says '2.00 s'
    [ "$(head -1 out.txt)" = t4.json ]
    t4_of ms '"metadata": {"timeunit": "fortnights"},' >t4.json
    tool replay t4.json --strategy random --repeat 1
    fails_with 4 "timeunit is 'fortnights'"
}

@test "converting to each format and back gives the same results" {
    make_recorded
    tool replay recorded.json --strategy random --repeat 5 --json
    grep -v '"file"' out.txt >expected.txt
    for format in kernel-tuner t4; do
        tool convert recorded.json --format "$format" --output "$format.json"
        succeeds
        tool replay "$format.json" --strategy random --repeat 5 --json
        succeeds
        grep -v '"file"' out.txt | cmp - expected.txt
    done
}

@test "mistakes are usage errors with a remedy" {
    make_recorded
    tool replay recorded.json --strategy surogate
    fails_with 2 "did you mean 'surrogate'?"
    tool replay missing.json
    [ "$status" -ne 0 ]
    tool convert recorded.json --format t5
    fails_with 2 'did you mean t4?'
    echo '{"a": 1}' >other.json
    tool replay other.json
    [ "$status" -ne 0 ]
    [[ "$errors" == *"other.json"* ]]
    gzip -c recorded.json | head -c 300 >cut.json.gz
    tool replay cut.json.gz
    fails_with 4 "cut off"
    [[ "$errors" == *"cut.json.gz"* ]]
}

@test "on spaces measured on a GPU the default finds more than random search" {
    for space in product stencil transpose; do
        tool replay "$BATS_TEST_DIRNAME/../../results/nvidia-h200/landscapes/$space.json.gz" --repeat 1 --json
        succeeds
        [[ "$output" =~ \"score\":\ 0\.[5-9] ]]
        [[ "$output" =~ \"score_in_time\":\ 0\.[5-9] ]]
    done
}

@test "an observer's NaN and Infinity are missing values, and the times are used" {
    printf '%s\n' '{"device_name": "A GPU", "kernel_name": "k", "tune_params_keys": ["b"], "cache": {' \
        '"1": {"b": 1, "time": 1.5, "times": [1.5], "watts": NaN},' \
        '"2": {"b": 2, "time": 1.0, "times": [1.0], "watts": 80.0},' \
        '"3": {"b": 3, "time": 2.0, "times": [2.0], "watts": -Infinity}}}' >cache.json
    tool replay cache.json
    succeeds
    says "3 configurations, of which 0 fail; optimum 1 (time)"
    tool importance cache.json
    succeeds
    tool convert cache.json --format kernel-tuner
    succeeds
    says '"time": 1.5'
    tool plot cache.json --output picture.svg
    succeeds
}

@test "absurdly large times are printed with their magnitude" {
    printf '%s\n' '{"device_name": "A GPU", "kernel_name": "k", "tune_params_keys": ["b"], "cache": {' \
        '"1": {"b": 1, "time": 1e300, "times": [1e300], "benchmark_time": 1e300},' \
        '"2": {"b": 2, "time": 2e300, "times": [2e300], "benchmark_time": 1e300}}}' >cache.json
    tool replay cache.json
    succeeds
    says_nothing_of " 0.00 s"
    says "e+"
}
