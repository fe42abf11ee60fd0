load helpers

@test "bash completes a command's own options" {
    tool completion bash
    succeeds
    source out.txt
    COMP_WORDS=(autotune spills --shared) COMP_CWORD=2
    _autotune || true
    [ "${COMPREPLY[*]}" = --shared-spills ]
    COMP_WORDS=(autotune compa) COMP_CWORD=1
    _autotune || true
    [ "${COMPREPLY[*]}" = compare ]
}

@test "the manual page, zsh and fish know every command" {
    for kind in man zsh fish; do
        tool completion $kind
        succeeds
        for command in tune spills compare report plot importance; do
            says "$command"
        done
    done
}

@test "a shell that is not there lists those that are" {
    tool completion csh
    fails_with 2 'bash, zsh, fish or man'
}
