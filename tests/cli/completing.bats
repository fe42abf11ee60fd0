load helpers

# offered WORD...: sets $offered to the completions of bash after these words of a command line
offered() {
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    _autotune || true
    offered=${COMPREPLY[*]}
}

@test "bash completes commands, a command's own options and the words that an option takes" {
    tool completion bash
    succeeds
    bash -n out.txt
    source out.txt
    offered autotune spills --shared
    [ "$offered" = --shared-spills ]
    offered autotune compa
    [ "$offered" = compare ]
    offered autotune transpose.lua --verify
    [ "$offered" = --verify-on ]
    offered autotune plot x --kind he
    [ "$offered" = heatmap ]
    offered autotune plot x --kind = he
    [ "$offered" = heatmap ]
    offered autotune plot x --kind =
    [ "$offered" = 'rank heatmap sweep convergence roofline spill importance' ]
    offered autotune plot x --format ''
    [ "$offered" = 'svg png terminal' ]
    offered autotune export x --format h
    [ "$offered" = header ]
    offered autotune tune x --strategy surr
    [ "$offered" = surrogate ]
    offered autotune results va
    [ "$offered" = validate ]
    offered autotune completion ''
    [ "$offered" = 'bash zsh fish man' ]
}

@test "fish completes commands, a command's own options and the words that an option takes" {
    command -v fish >/dev/null || skip "fish is missing"
    tool completion fish
    succeeds
    fish -n out.txt
    export HOME=$WORK
    complete_fish() { fish -c "source out.txt; complete -C '$1'" | cut -f 1; }
    [ "$(complete_fish 'autotune spills --sha')" = --shared-spills ]
    [ "$(complete_fish 'autotune compa')" = compare ]
    [ "$(complete_fish 'autotune plot x --kind he')" = heatmap ]
    [ "$(complete_fish 'autotune transpose.lua --verify-on a')" = all ]
    complete_fish 'autotune results v' | grep -qx validate
    mkdir files files/folder
    touch files/a.lua files/b.cu files/c.json files/d.txt
    [ "$(complete_fish 'autotune explain files/' | xargs)" = "files/a.lua files/b.cu files/folder/" ]
    [ "$(complete_fish 'autotune files/' | xargs)" = "files/a.lua files/b.cu files/folder/" ]
    [ "$(complete_fish 'autotune compare files/' | xargs)" = "files/c.json files/folder/" ]
    complete_fish 'autotune explain x --describe files/' | grep -qx files/d.txt
}

@test "zsh completes commands, a command's own options and the words that an option takes" {
    command -v zsh >/dev/null || skip "zsh is missing"
    tool completion zsh
    succeeds
    zsh -n out.txt
    # prints the arguments that the completion passes to zsh's own functions
    told_zsh() {
        zsh -fc 'function _arguments { print -l -- "$@" }; function _describe { print -l -- "${(@P)2}" }; function _files { : }
                 words=("${@:2}"); CURRENT=$#words; source $1' zsh ./out.txt "$@"
    }
    told_zsh autotune compa | grep -q '^compare:'
    told_zsh autotune spills --sha | grep -q '^--shared-spills\['
    told_zsh autotune plot x --kind he | grep -q '^--kind=.*:(rank heatmap '
    told_zsh autotune transpose.lua --eff | grep -q '^--effort=.*:(quick normal '
    told_zsh autotune results li | grep -q '^2:what:(list show '
}

@test "the manual page and the completions of zsh and fish have every command" {
    for kind in man zsh fish; do
        tool completion $kind
        succeeds
        for command in tune spills compare report plot importance; do
            says "$command"
        done
    done
}

@test "each command has a manual page with the contents of its --help" {
    command -v man >/dev/null || skip "man is missing"
    tool completion words commands
    for command in $(cat out.txt); do
        "$AUTOTUNE" completion man "$command" >"autotune-$command.1"
    done
    [ "$(ls autotune-*.1 | wc -l)" -ge 30 ]
    LC_ALL=C.UTF-8 MANROFFSEQ= man --warnings -l autotune-*.1 >pages.txt 2>warnings.txt
    [ ! -s warnings.txt ] || { head warnings.txt; return 1; }
    LC_ALL=C.UTF-8 MANROFFSEQ= MANWIDTH=200 man -l autotune-tune.1 >page.txt
    tool tune --help
    words=$(sed -n 's/^  \(--[a-z-]*\|[a-z]\{4,\}\)  *.*/\1/p' out.txt)
    [ "$(wc -w <<<"$words")" -ge 25 ]
    for word in $words; do
        grep -q "^  *$word\( \|$\)" page.txt || { echo "no $word"; return 1; }
    done
    tool completion man tun
    fails_with 2 'did you mean tune'
}

@test "the manual page is a valid manual page" {
    command -v man >/dev/null || skip "man is missing"
    tool completion man
    LC_ALL=C.UTF-8 MANROFFSEQ= man --warnings -l out.txt >page.txt 2>warnings.txt
    [ ! -s warnings.txt ]
    grep -q 'autotune spills SCRIPT' page.txt
    # The page must have all exit codes and environment variables of --help.
    tool --help
    codes=$(sed -n '/^Exit codes:/,/^$/s/^  \([0-9]*\) .*/\1/p' out.txt)
    variables=$(sed -n '/^Environment:/,$s/^  \([A-Z_]*\) .*/\1/p' out.txt)
    [ "$(wc -w <<<"$codes $variables")" -ge 17 ]
    for word in $codes $variables; do
        grep -q "^  *$word\( \|$\)" page.txt || { echo "no $word"; return 1; }
    done
    for heading in ENVIRONMENT FILES EXAMPLES 'EXIT STATUS'; do grep -qx "$heading" page.txt; done
    # Each example must use an existing command.
    sed -n '/^EXAMPLES/,$s/^  *autotune \([a-z]*\).*/\1/p' page.txt >commands.txt
    [ "$(wc -l <commands.txt)" -ge 6 ]
    for command in $(grep -vx transpose commands.txt); do "$AUTOTUNE" "$command" --help >/dev/null; done
}

@test "for an invalid word of an option or a command, the message names the nearest valid word" {
    for words in 'completion zhs|zsh' 'plot x --kind heatmp|heatmap' 'compare a b --fail-on slowr|slower' 'tune x --effort quik|quick' \
        'tune x --cache wrm|warm' 'transpose.lua --strategy surogate|surrogate' "report transpos --results $BATS_TEST_DIRNAME/../../results|transpose" 'space transpos|transpose' 'export x --format headr|header' \
        'convert x --format kernel-tunr|kernel-tuner' 'results lst|list' 'help script|scripts' 'spils x|spills' \
        'verify x --fail-on overtakn|overtaken' 'spills x --shard-spills|shared-spills'; do
        # shellcheck disable=SC2086
        tool ${words%|*}
        fails_with 2 "did you mean"
        [[ "$errors" == *"did you mean"*"${words#*|}"* ]] || { echo "$words: $errors"; return 1; }
    done
}

@test "a message about an unknown shell lists the known ones" {
    tool completion csh
    fails_with 2 'bash, zsh, fish or man'
}

@test "bash completes installed patterns, their parameters and variables, GPUs, architectures and pages" {
    tool completion bash
    PATH=$(dirname "$AUTOTUNE"):$PATH
    source out.txt
    offered autotune explain transp
    [ "$offered" = transpose ]
    offered autotune transp
    [ "$offered" = transpose ]
    offered autotune help embed
    [ "$offered" = embedding ]
    offered autotune tune transpose --set ro
    [ "$offered" = rows= ]
    offered autotune transpose --set ro
    [ "$offered" = rows= ]
    offered autotune tune transpose --only algo
    [ "$offered" = algorithm= ]
    offered autotune tune transpose --only algorithm = na
    [ "$offered" = naive ]
    offered autotune tune transpose --only algorithm = naive,ti
    [ "$offered" = naive,tile ]
    offered autotune explain transpose --config algorithm = naive,tile_
    [ "$offered" = 'naive,tile_x= naive,tile_y=' ]
    offered autotune explain transpose --config algorithm = naive,tile_x = 6
    [ "$offered" = 64 ]
    offered autotune space transpose --arch sm_8
    [ "$offered" = 'sm_80 sm_86 sm_87 sm_89' ]
    offered autotune tune transpose --device sim:sm_8
    [ "$offered" = 'sim:sm_80 sim:sm_86 sim:sm_89' ]
    offered autotune explain transpose --device sim:h
    [ "$offered" = 'sim:h200 sim:h100' ]
    # Files of the right kind and folders must be offered, each once.
    touch transpose.lua kernel.cu notes.txt run.json && mkdir transposed
    offered autotune transpos
    [ "$(tr ' ' '\n' <<<"$offered" | LC_ALL=C sort | paste -sd ' ')" = 'transpose transpose.lua transposed' ]
    mkdir transpose
    offered autotune transpos
    [ "$(tr ' ' '\n' <<<"$offered" | LC_ALL=C sort | paste -sd ' ')" = 'transpose transpose.lua transposed' ]
    offered autotune check k
    [ "$offered" = kernel.cu ]
    offered autotune check n
    [ "$offered" = '' ]
    offered autotune plot r
    [ "$offered" = 'results run.json' ] || [ "$offered" = run.json ]
    offered autotune report --output n
    [ "$offered" = notes.txt ]
    rm -r transpose transpose.lua
    offered autotune tune transpose --device sim : sm_8
    [ "$offered" = 'sm_80 sm_86 sm_89' ]
    offered autotune tune transpose --device sim :
    [[ "$offered" == 'sm_75 t4 sm_80 '* ]]
    mkdir -p results/nvidia-made-up
    offered autotune pick transpose --gpu nvidia-made
    [ "$offered" = nvidia-made-up ]
}

@test "a script's own words are offered, except those that a shell would execute" {
    cp "$FIXTURES"/scale* .
    sed -i 's/vec   = {.*/vec = { "$(touch hit)", "plain", "`touch hit`" },/; s/^    "vec .*//; s/.*vec > 1.*//; s/.*n % vec.*//; s/vec = 1,/vec = "plain",/' scale.lua
    tool completion words parameters scale.lua
    succeeds
    grep -qx vec=plain out.txt
    lacks -F 'touch' out.txt
    tool completion words parameters nowhere.lua
    succeeds
    [ -z "$output" ]
    tool completion words nonsense
    fails_with 2 "patterns, pages, commands, gpus, architectures, devices, variables, parameters"
}

@test "only folders of records are offered as GPUs" {
    mkdir -p results/nvidia-l4
    touch results/README.md results/predicted.txt
    tool completion words gpus
    succeeds
    grep -qx nvidia-l4 out.txt
    lacks 'README\|predicted' out.txt
}

@test "fish and zsh offer the same words" {
    PATH=$(dirname "$AUTOTUNE"):$PATH
    tool completion zsh
    grep -q -- "'--set=.*:{_autotune_words variables}'" out.txt
    grep -q -- "'--only=.*:{_autotune_words parameters}'" out.txt
    command -v fish >/dev/null || skip "fish is missing"
    tool completion fish
    export HOME=$WORK
    [ "$(fish -c "source out.txt; complete -C 'autotune tune transpose --set ro'" | cut -f 1)" = rows= ]
    [ "$(fish -c "source out.txt; complete -C 'autotune tune transpose --only algorithm=na'" | cut -f 1)" = algorithm=naive ]
    fish -c "source out.txt; complete -C 'autotune explain transp'" | cut -f 1 | grep -qx transpose
}

@test "configurations with a name: the script's default, and the choice from the records" {
    tool check "$FIXTURES/scale.lua" --config baseline --device sim:sm_90
    succeeds
    says 'block=256,vec=1,cached=true'
    tool emit transpose --config best --arch sm_90
    succeeds
    tool explain "$FIXTURES/scale.lua" --config best --device sim:sm_90
    fails_with 2 "--config best: no record has a configuration of scale for this problem"
}

@test "a message about invalid values names the broken constraint, the values of its names, and the nearest valid configuration" {
    tool check transpose --config pad=0,algorithm=async,tile_x=128,tile_y=128,load_vec=1 --device sim:sm_90
    fails_with 2 "no valid configuration has these values"
    [[ $errors == *"where turned = algorithm == 'registers' or algorithm == 'async'"* ]]
    [[ $errors == *"the nearest valid one has "*"="* ]]
}
