load helpers

# A record of a pattern that has no script, on one GPU.
record() { # record FOLDER GPU CAPABILITY
    mkdir -p "$1"
    cat >"$1/scale.json" <<END
{"schema": "autotune-record", "version": 1, "pattern": "scale", "gpu": "$2",
 "compute_capability": "$3", "entries": [{"problem": {"n": 4096}, "configuration": {"block": 128},
 "baseline": {"configuration": {"block": 64}},
 "time": {"median_ns": 1000, "low_ns": 990, "high_ns": 1010}}]}
END
}

@test "a pattern is exported from its results alone" {
    record results/nvidia-h200 "NVIDIA H200" 9.0
    record results/nvidia-a100 "NVIDIA A100" 8.0
    tool export scale --format header -o scale.h
    succeeds
    [ -z "$output" ]
    cat >main.c <<END
#include "scale.h"
#include <stdio.h>
int main(void)
{
    autotune_scale_problem p = {4096};
    autotune_device d = autotune_device_named("NVIDIA A100", 8, 0);
    autotune_scale_choice c = autotune_scale_find(&d, &p);
    printf("%s %d\n", autotune_rule_name(c.rule), c.config.block);
    d = autotune_device_named("NVIDIA V100", 7, 0);
    c = autotune_scale_find(&d, &p);
    printf("%s %d\n", autotune_rule_name(c.rule), c.config.block);
    return 0;
}
END
    cc -std=c11 -Wall -Wextra -Werror -pedantic main.c -o c
    c++ -std=c++17 -Wall -Wextra -Werror -pedantic -Wno-missing-field-initializers -x c++ main.c -o cpp
    [ "$(./c)" = "exact 128
default 64" ]
    [ "$(./cpp)" = "$(./c)" ]
}

@test "an installed pattern without results exports its default and says so" {
    tool export transpose
    succeeds
    says "autotune_transpose_config autotune_transpose_default(void)"
    [[ "$errors" == *"only the default is exported"* ]]
}

@test "a pattern that is nowhere is a usage error" {
    tool export nothing
    fails_with 2 "nor are there results for 'nothing'"
}

@test "an unknown format lists the known ones" {
    tool export transpose --format xml
    fails_with 2 "no format 'xml'; there is: header"
}

@test "a damaged record is named with its line, and stays" {
    record results/nvidia-h200 "NVIDIA H200" 9.0
    printf '{\n"schema": oops' >results/nvidia-h200/scale.json
    cp results/nvidia-h200/scale.json before
    tool export scale
    [ "$status" -ne 0 ]
    [[ "$errors" == *"nvidia-h200/scale.json:2"* ]]
    cmp before results/nvidia-h200/scale.json
}

@test "a full disk leaves no header behind" {
    tool export transpose -o /dev/full
    [ "$status" -ne 0 ]
    [[ "$errors" == *"No space left on device"* ]]
}
