#!/usr/bin/env bash
# Runs every test that needs a GPU. Usage: tests/gpu/run.sh [BUILD_FOLDER [SEEDS]] (default build/release, 1). Mutants
# are tried with the seeds 1 to SEEDS. Exit code: 0 if all passed, 77 without a GPU, otherwise the failure's.
set -u
here=$(dirname "$(realpath "$0")")
build=$(realpath "${1:-$here/../../build/release}")
failed=0
export AUTOTUNE_GPU_SOURCES="$here/../.."

# all_right TEXT: checks that every variant of a tuning was right, or was abandoned as too slow after one launch
all_right() {
    sed -n 's/^variants *\([0-9]*\) tried .*: \([0-9]*\) ok\(, \([0-9]*\) too_slow\)\?$/\1 \2 \4/p' <<<"$1" |
        awk '$2 + $3 == $1 { right = 1 } END { exit !right }'
}

for test in device clock library; do
    echo "== $test"
    "$build/tests/test_gpu_$test"
    status=$?
    [ "$status" -eq 77 ] && exit 77
    [ "$status" -eq 0 ] || failed=1
done

echo "== wrong kernels"
"$here/wrong_kernels/run.sh" "$build/bin/autotune" cuda:0 || failed=1

echo "== mutants"
"$here/../mutants/run.sh" "$build/bin/autotune" cuda:0 1 8 "${2:-1}" || failed=1

echo "== transfers"
for problem in direction=to_device direction=to_host direction=both "direction=both rounds=16" \
    "direction=to_device pieces=256" "direction=to_host pieces=256" "direction=both pieces=256 rounds=2"; do
    settings=()
    for setting in bytes=4M $problem; do settings+=(--set "$setting"); done
    said=$("$build/bin/autotune" transfer.lua --device cuda:0 "${settings[@]}" --budget 80 --no-record \
        --quiet 2>&1)
    if all_right "$said"; then
        echo "ok   $problem: $(grep -m 1 '^best' <<<"$said")"
    else
        echo "FAIL $problem: $said"
        failed=1
    fi
done

echo "== cooperative launches and clusters, tensor maps, textures, surfaces, launches in rounds"
for script in grid_sum.lua tensor_tiles.lua textured.lua "$here/../fixtures/surfaced.lua" \
    "$here/../fixtures/clustered.lua" "$here/../fixtures/stepped.lua"; do
    said=$("$build/bin/autotune" "$script" --device cuda:0 --no-record --quiet 2>&1)
    if all_right "$said"; then
        echo "ok   $script: $(grep -m 1 '^best' <<<"$said")"
    else
        echo "FAIL $script: $said"
        failed=1
    fi
done

echo "== captured launches"
"$here/captured.sh" "$build"
case $? in 0 | 77) ;; *) failed=1 ;; esac

echo "== verdicts: what is called right"
python3 "$here/../verdicts/run.py" -g cuda:0 "$build/bin/autotune" || failed=1

for compiled in exported_vs_library exported_vs_library_clang; do
    [ -x "$build/tests/$compiled" ] || continue
    echo "== exported kernels beside the library: $compiled"
    AUTOTUNE_RESULTS="$here/../../results" "$build/tests/$compiled" || failed=1
done

echo "== device out of memory"
large=$(mktemp)
"$build/bin/autotune" transpose.lua --device cuda:0 --set rows=262144 --set cols=262144 --budget 1 \
    --no-record --quiet >/dev/null 2>"$large"
status=$?
if [ "$status" -eq 3 ] && grep -qi memory "$large" &&
    "$build/bin/autotune" transpose.lua --device cuda:0 --budget 1 --no-record --quiet >/dev/null; then
    echo "ok   512 GiB are refused, and the device works afterwards"
else
    echo "FAIL exit $status: $(cat "$large")"
    failed=1
fi
rm -f "$large"
exit $failed
