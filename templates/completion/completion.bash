# Completion of autotune for bash; autotune completion bash prints it.
_autotune() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} options words=
    # --kind=ra is three words.
    [[ $word != = ]] || word=
    if [[ $before == = ]]; then
        before=${COMP_WORDS[COMP_CWORD - 2]}
    elif [[ ${COMP_WORDS[COMP_CWORD]} == = ]]; then
        before=${COMP_WORDS[COMP_CWORD - 1]}
    fi
    case ${COMP_WORDS[1]} in
@COMMANDS@
    esac
    if [[ $words ]]; then
        COMPREPLY=($(compgen -W "$words" -- "$word"))
    elif [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$word"))
    elif ((COMP_CWORD == 1)); then
        COMPREPLY=($(compgen -W "@NAMES@" -- "$word") $(compgen -f -- "$word"))
    else
        COMPREPLY=($(compgen -f -- "$word"))
    fi
    return 0
}
complete -o filenames -F _autotune autotune
