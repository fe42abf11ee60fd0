load helpers

@test "--version prints name, number and the confinement of workers" {
    tool --version
    succeeds
    [[ "$output" =~ ^autotune\ [0-9]+\.[0-9]+\.[0-9]+$'\n'confinement:\ .+$ ]]
    AUTOTUNE_CONFINE=off tool --version
    says "confinement: off"
}

@test "--version --verbose prints the facts that a bug report needs" {
    export LC_ALL=de_DE.UTF-8 CUDA_VISIBLE_DEVICES=3 CUDA_ODD_ONE=1 AUTOTUNE_RESULTS=$WORK/mine AUTOTUNE_LIBCUDA=$WORK/none
    mkdir mine
    tool --version --verbose
    succeeds
    [ "$(head -1 out.txt)" = "$(tool --version && head -1 out.txt)" ]
    tool --version --verbose
    for line in "system: Linux $(uname -r) $(uname -m), glibc " "driver: none; " "$WORK/none" "LC_ALL=de_DE.UTF-8" \
        "toolkit: NVRTC 1" "/libnvrtc.so" "compile cache: $XDG_CACHE_HOME/autotune/" "journals: $XDG_STATE_HOME/autotune/" \
        "results: $WORK/mine: " "CUDA_VISIBLE_DEVICES=3: " "  CUDA_ODD_ONE=1"; do
        says "$line"
    done
    [[ "$output" =~ "results: $WORK/mine: "[a-z0-9]+", writable, locks by flock" ]]
    AUTOTUNE_NVRTC=$WORK/none tool --version --verbose
    succeeds
    says "toolkit: none; "
}

@test "--version --verbose names every variable that the program reads" {
    names=$(grep -rhoE 'getenv\("[A-Z_0-9]+"\)|several\("[A-Z_0-9]+"\)|names\[\] = \{"LC_ALL.*' --exclude=version.c "$BATS_TEST_DIRNAME/../../tuner" |
        grep -oE '"[A-Z_0-9]+"' | tr -d '"' | sort -u)
    [ "$(wc -l <<<"$names")" -gt 20 ]
    tool --version --verbose
    for name in $names; do
        grep -qE "^  $name[:=]" out.txt || { echo "$name is not named"; return 1; }
    done
}

@test "--help lists every command, the exit codes and the environment" {
    tool --help
    succeeds
    for word in tune emit inspect space devices export XDG_CACHE_HOME NO_COLOR 130; do
        says "$word"
    done
}

@test "each command has a --help" {
    for command in tune emit inspect space devices export; do
        tool "$command" --help
        succeeds
        says "Usage: autotune $command"
    done
}

@test "an option of several commands is described for each command" {
    tool check --help
    says "the simulated GPU that proves"
    says "check N variants of the space, drawn at random"
    tool results --help
    says "only entries whose problem has this value"
    tool capture --help
    says "the folder for what is captured"
    tool new --help
    says "which kernel is meant"
}

@test "every command's help has its exit codes, and --help fits 80 columns in a file" {
    for command in tune check pick results new help; do
        tool "$command" --help
        says "Exit codes of every command: 0 done, 2 the command line"
    done
    tool --help
    lacks -E '^.{81}' out.txt
}

@test "a device given to --arch, or an architecture given to --device, gets the right option suggested" {
    tool space transpose --device sim
    fails_with 2 "unknown option '--device'; did you mean --arch?"
    tool check transpose --arch sm_90
    fails_with 2 "unknown option '--arch'; did you mean --device?"
    tool transpose --jobs 0
    fails_with 2 "--jobs takes a whole number from 1 to 1024"
    tool transpose --device sm_90
    fails_with 2 "there is no device 'sm_90'; did you mean sim:sm_90?"
    tool transpose --device h100
    fails_with 2 "there is no device 'h100'; did you mean sim:h100?"
}

@test "no argument at all is a usage error that shows the help" {
    tool
    [ "$status" -eq 2 ]
    says "Usage:"
}

@test "for a misspelt option, the message names the nearest" {
    tool space transpose.lua --jsn
    fails_with 2 "did you mean --json?"
}

@test "for a misspelt command, the message names the nearest" {
    tool spase transpose.lua
    fails_with 2 "did you mean 'space'?"
}

@test "for an option without a value, the message says so" {
    tool tune transpose.lua --budget
    fails_with 2 "--budget needs a value"
}

@test "a message about a wrong budget shows a valid one" {
    for wrong in soon -3 0 1.5 10d m ""; do
        tool tune transpose.lua --budget "$wrong"
        fails_with 2 "--budget takes a number of variants (200) or a time (30s, 10m, 1h)"
    done
}

@test "a second script is a usage error" {
    tool space transpose.lua spill.lua
    fails_with 2 "one too many"
}

@test "a message about a missing script names the nearest installed one" {
    tool transpos.lua
    fails_with 2 "did you mean transpose.lua?"
    mkdir sub && cp "$FIXTURES"/scale* sub
    tool check sub/scael.lua
    fails_with 2 "there is no script 'sub/scael.lua'; did you mean sub/scale.lua?"
}

@test "for --set of an unknown variable, the message names the nearest" {
    tool space transpose.lua --set row=64
    fails_with 2 "rows"
}

@test "--set with a value of another kind is refused" {
    tool space transpose.lua --set rows=many
    fails_with 2 "rows"
}

@test "for an unknown architecture, the message lists the known ones" {
    tool emit transpose.lua --arch sm_13
    fails_with 2 "sm_90"
}

@test "for an unknown strategy, the message lists the known ones" {
    tool tune transpose.lua --arch sm_90 --strategy exhausting
    fails_with 2 "exhaustive"
}

@test "--help lists the values of --strategy and --format" {
    for command in tune replay; do
        tool "$command" --help
        says "Strategies"
        says "surrogate"
    done
    tool export --help
    says_nothing_of "kernel-tuner"
    cp out.txt help.txt
    tool export transpose --format nonsense
    fails_with 2 "takes header"
    for format in $(sed -n 's/.*--format takes \(.*\), not.*/\1/p' err.txt | sed 's/,//g; s/ or / /'); do
        grep -q "^  $format " help.txt
    done
    tool convert --help
    says "kernel-tuner"
    says "t4"
}

@test "devices --json prints JSON even without a driver" {
    AUTOTUNE_LIBCUDA=/nowhere tool devices --json
    succeeds
    [ -z "$errors" ]
    [[ $(jq -r .no_gpu out.txt) == *driver* ]]
    [ "$(jq -r '.devices[].device' out.txt | grep -cv '^sim:')" -eq 0 ]
    [ "$(jq -r '.devices[].device' out.txt | grep -c '^sim:sm_90$')" -eq 1 ]
}

@test "if a choice is refused, the available ones are listed" {
    tool transpose --device foo
    fails_with 2 "there is no device 'foo': cuda:0, cuda:1, ... are GPUs, sim and sim:sm_XX simulated ones"
    tool transpose --device sim:sm_12
    fails_with 2 "there is no simulated chip 'sm_12'; known are: t4 (sm_75), a100 (sm_80)"
    tool transpose --strategy foo
    fails_with 2 "there are: auto, surrogate, random, exhaustive"
    tool transpose --set dtype=quad --arch sm_90
    fails_with 2 "float"
    [[ "$errors" == *"The types are: "*"half, bfloat16, float, double"* ]]
}

@test "an option without a value, or of another command, is an error" {
    tool check transpose --config ""
    fails_with 2 "--config needs a value"
    for option in "-o x" "-I ."; do
        tool devices $option
        fails_with 2 "unknown option '${option% *}'; 'autotune devices --help' lists them"
    done
    tool check transpose --config pad=0 --budget 3
    fails_with 2 "--config names one variant, and --budget N draws several: leave out one of them"
    tool space transpose --list --json
    fails_with 2 "--list prints lines, and --json one object: leave out one of them"
    tool compare a b c
    fails_with 2 "'autotune compare' takes A B: 'c' is one too many"
}

@test "every command that simulates takes the same --device, and --arch takes the same names" {
    for arch in 90 sm90 9.0 compute_90 h100; do
        for command in explain check "tune --budget 1"; do
            tool $command "$FIXTURES/scale.lua" --device sim:$arch
            succeeds
            says sm_90
        done
        tool "$FIXTURES/scale.lua" --budget 1 --arch $arch
        succeeds
        says sm_90
    done
    for command in explain check; do
        tool $command "$FIXTURES/scale.lua" --device h100
        fails_with 2 "there is no simulated device 'h100'; did you mean sim:h100?"
        tool $command "$FIXTURES/scale.lua" --device cuda:0
        fails_with 2 "there is no simulated device 'cuda:0'; 'autotune devices' lists them"
    done
    # Each chip must be listed once, with all of its architectures.
    tool explain "$FIXTURES/scale.lua" --device sim:sm_12
    fails_with 2 "h200 (sm_90, sm_90a)"
    [ "$(grep -o h200 <<<"$errors" | wc -l)" -eq 1 ]
}

@test "a message about an unusable problem says that it comes from the command line" {
    for command in "tune transpose --device sim" "tune transpose --arch sm_90" "check transpose" "space transpose" "spills transpose"; do
        tool $command --set rows=0
        fails_with 2 "must be 1 at least, but is 0, where rows is 0 (by --set), cols is 8192"
    done
}

@test "a message about a value of --set names --set, not the replaced line of the script" {
    cp "$FIXTURES"/scale* .
    tool tune scale.lua --device sim --set dtype=flot
    fails_with 2 "--set dtype=flot: there is no element type 'flot'; did you mean 'float'?"
    sed -i 's/at.int64("n")/"n"/' scale.lua
    tool tune scale.lua --device sim --set n=99999999999
    fails_with 2 'gives 99999999999, which does not fit an int; write at.int64(...), where n is 99999999999 (by --set)'
    sed -i 's/dtype = "float" }/dtype = "flot" }/' scale.lua
    tool tune scale.lua --device sim
    fails_with 2 "scale.lua:7: problem.dtype: there is no element type 'flot'"
}

@test "--version takes --json and refuses unknown options" {
    tool --version --json
    succeeds
    [ "$(jq -r .version out.txt)" = "$("$AUTOTUNE" --version | sed -n 's/^autotune //p')" ]
    tool --version --jsn
    fails_with 2 "--version takes --verbose, for people, or --json, not '--jsn'"
}

@test "a value that belongs to another option is refused, with that option" {
    tool explain "$FIXTURES/scale.lua" --config block=64 vec=2
    fails_with 2 "--config block=64,vec=2"
    tool space "$FIXTURES/scale.lua" --set block=64
    fails_with 2 "--set block: this is a parameter of the space, not a variable of the problem. --only block=64 keeps only this value, --config"
    tool space "$FIXTURES/scale.lua" --set nn=64
    fails_with 2 "did you mean 'n'? It has n, scale, dtype"
    cp "$FIXTURES/scale.lua" "$FIXTURES/scale.cu.tmpl" .
    tool check scale.cu.tmpl
    fails_with 2 "scale.cu.tmpl is a template: name the script that uses it (scale.lua)"
}

@test "the help lists each command once, in groups, and begins with what a beginner needs" {
    tool --help
    succeeds
    sed -n '/^Start here$/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p' out.txt >first.txt
    [ "$(paste -sd ' ' first.txt)" = 'new check tune explain export' ]
    [ "$(grep -cE '^[A-Z][a-z ]*$' out.txt)" -ge 6 ]
    sed -n '/^Start here$/,/^Exit codes/s/^  \([a-z-]\+\)\( .*\|$\)/\1/p' out.txt | sort >listed.txt
    "$AUTOTUNE" completion words commands | sort >all.txt
    diff listed.txt all.txt
    awk 'length > 80 { print; exit 1 }' out.txt
    tool -V
    succeeds
    says 'autotune '
}
