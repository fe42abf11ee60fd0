load helpers

@test "a portfolio on a simulated device is predicted and not recorded" {
    tool portfolio "$FIXTURES/scale.lua" --over n=1000..4000 --device sim:sm_90 --problems 3 --held-out 1 \
        --budget 40 --quiet
    succeeds
    says "times are predicted"
    says "n=1000..4000; scale=3"
    says "on 1 problem held out"
    says "choice"
    [ ! -e results ]
}

@test "a portfolio over unknown variables or impossible values says so" {
    tool portfolio "$FIXTURES/scale.lua" --device sim:sm_90
    fails_with 2 "needs --over"
    tool portfolio "$FIXTURES/scale.lua" --over m=1..4 --device sim:sm_90
    fails_with 2 "the problem has no such variable"
    tool portfolio "$FIXTURES/scale.lua" --over n=16..4 --device sim:sm_90
    fails_with 2 "a range is LO..HI"
    tool portfolio "$FIXTURES/scale.lua" --over n=0..4 --device sim:sm_90
    fails_with 2 "a range is LO..HI"
    tool portfolio "$FIXTURES/scale.lua" --over n=1..8 --set n=3 --device sim:sm_90
    fails_with 2 "by both --over and --set"
    tool portfolio "$FIXTURES/scale.lua" --over n=1..8 --over n=3 --device sim:sm_90
    fails_with 2 "is given twice"
    tool portfolio "$FIXTURES/scale.lua" --over n --device sim:sm_90
    fails_with 2 "not 'n'"
    tool portfolio "$FIXTURES/scale.lua" --over n=1..8 --max 17 --device sim:sm_90
    fails_with 2 "from 1 to 16"
    tool portfolio "$FIXTURES/scale.lua" --over dtype=float,none --device sim:sm_90 --problems 1 --record
    fails_with 2 "--record is refused"
}

# Writes a pattern whose choose_by reads the waves of a configuration, and a portfolio of the pattern. The portfolio
# has blocks of 128 if these fill less than two waves of 132 multiprocessors, and otherwise blocks of 256.
chosen_by_waves() {
    cp "$FIXTURES/scale.cu.tmpl" "$FIXTURES/scale_ref.cu.tmpl" .
    sed 's/^  where = /  derived = { blocks = "ceil_div(n, block * vec)" },\n  choose_by = { waves = "blocks \/ device.sm_count" },\n&/' \
        "$FIXTURES/scale.lua" >scale.lua
    grep -q choose_by scale.lua
    mkdir -p results/nvidia-h200
    cat >results/nvidia-h200/scale.json <<END
{"schema": "autotune-record", "version": 1, "pattern": "scale", "gpu": "NVIDIA H200",
 "compute_capability": "9.0", "entries": [], "portfolios": [{"fixed": {"scale": 3.0, "dtype": "float"},
 "choose_by": {"waves": "blocks / device.sm_count; blocks = ceil_div(n, block * vec)"},
 "configurations": [{"block": 128, "vec": 1, "cached": true}, {"block": 256, "vec": 2, "cached": true}],
 "tree": [{"feature": "waves", "of": 0, "below": 2, "then": 1, "else": 2},
          {"order": [0, 1], "default_at": 2}, {"order": [1, 0], "default_at": 2}]}]}
END
}

@test "pick, emit and an exported header choose the same by a tree with a feature" {
    chosen_by_waves
    tool export scale.lua --results results --format header -o scale.h
    succeeds
    cat >main.c <<END
#include "scale.h"
#include <stdio.h>
#include <stdlib.h>
int main(int count, char **n)
{
    autotune_device d = autotune_device_named("NVIDIA H200", 9, 0);
    autotune_scale_problem p = {atoi(n[count - 1]), AUTOTUNE_SCALE_DTYPE_FLOAT, 3.0};
    autotune_scale_choice c;
    d.sm_count = 132;
    d.max_threads_per_block = 1024;
    c = autotune_scale_find(&d, &p);
    printf("%s block=%d,vec=%d\n", autotune_rule_name(c.rule), c.config.block, c.config.vec);
    return 0;
}
END
    cc -std=c11 -Wall -Wextra -Werror main.c -o in_c
    cp main.c main.cpp
    c++ -std=c++17 -Wall -Wextra -Werror main.cpp -o in_cpp
    for n in 1024 33664 33666 67584; do
        wanted="block=128,vec=1"
        [ "$n" -le 33664 ] || wanted="block=256,vec=2"
        tool pick scale.lua --set n=$n --gpu nvidia-h200
        succeeds
        says "gives     $wanted,cached=true"
        says "rule      portfolio"
        [ "$(./in_c $n)" = "portfolio $wanted" ]
        [ "$(./in_cpp $n)" = "portfolio $wanted" ]
        tool emit scale.lua --best --set n=$n --arch sm_90
        succeeds
    done
    tool results show scale
    says "waves of configuration 0 below 2? yes: configuration 0 no: configuration 1"
}

@test "a portfolio is not used if the script removed or changed its features" {
    chosen_by_waves
    sed -i 's/ceil_div(n, block \* vec)" }/n \/\/ (block * vec)" }/' scale.lua
    tool pick scale.lua --set n=1024 --gpu nvidia-h200
    succeeds
    says "rule      default"
    tool export scale.lua --results results --format header -o scale.h
    lacks feature_waves scale.h
    sed -i '/choose_by/d' scale.lua
    tool pick scale.lua --set n=1024 --gpu nvidia-h200
    says "rule      default"
}

@test "configurations of a portfolio that are no longer in the script are not chosen" {
    chosen_by_waves
    sed -i 's/"vec"/"width"/g' results/nvidia-h200/scale.json
    tool pick scale.lua --set n=1024 --gpu nvidia-h200
    succeeds
    says "rule      default"
    tool emit scale.lua --best --set n=1024 --arch sm_90
    says "block=256,vec=1"
    tool export scale.lua --results results --format header -o scale.h
    [[ "$errors" == *"2 results are not exported, because scale has other variables or parameters now"* ]]
    lacks feature_waves scale.h
    tool portfolio scale.lua --over n=1000..4000 --set scale=3.0 --device sim:sm_90 --problems 2 --held-out 0 --budget 20 --quiet
    succeeds
}

@test "a portfolio's tree with an unknown feature or without a configuration is skipped with a message" {
    chosen_by_waves
    sed -i 's/"of": 0/"of": 2/' results/nvidia-h200/scale.json
    tool results validate results
    [ "$status" -ne 0 ]
    [[ "$output$errors" == *"of must be the place of one of the portfolio's configurations"* ]]
    sed -i 's/"of": 2/"of": 0/; s/"feature": "waves"/"feature": "wave"/' results/nvidia-h200/scale.json
    tool results validate results
    [ "$status" -ne 0 ]
    [[ "$output$errors" == *"feature must be one of the names"* ]]
}

@test "a wrong choose_by in a script is reported with its line" {
    chosen_by_waves
    sed -i 's/device.sm_count" }/device.sm_cuont" }/' scale.lua
    tool pick scale.lua --set n=1024 --gpu nvidia-h200
    fails_with 2 "scale.lua:17"
    [[ "$errors" == *"choose_by.waves"*"did you mean 'device.sm_count'?"* ]]
}
