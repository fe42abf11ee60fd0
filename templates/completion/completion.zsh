#compdef autotune
# Completion of autotune for zsh; autotune completion zsh prints it.
_autotune() {
    local -a commands
    commands=(
@SUMMARIES@
    )
    if ((CURRENT == 2)) && [[ $words[2] != -* ]]; then
        _describe command commands
        _files
        return
    fi
    case $words[2] in
@COMMANDS@
    esac
}
_autotune "$@"
