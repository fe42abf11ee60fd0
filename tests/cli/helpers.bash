# Every test runs the built program ($AUTOTUNE) in its own folder, with its own cache and state.

setup() {
    : "${AUTOTUNE:?set AUTOTUNE to the binary under test}"
    AUTOTUNE=$(realpath "$AUTOTUNE")
    FIXTURES=$(realpath "$BATS_TEST_DIRNAME/../fixtures")
    [ "$BATS_TEST_NUMBER" -ne 1 ] || can_fail "$BATS_TEST_FILENAME"
    WORK=$(mktemp -d)
    # Tests of other things than compiling share one cache.
    export XDG_CACHE_HOME=${AUTOTUNE_TEST_CACHE:-$WORK/cache}
    export XDG_STATE_HOME=$WORK/state
    # Each test has its own files of GPU turns, so that concurrent tests do not wait for each other.
    export AUTOTUNE_TURNS=$WORK TMPDIR=$WORK
    cd "$WORK"
}

teardown() {
    cd /
    rm -rf "$WORK"
}

# Runs the program. Sets $output to its stdout, $errors to its stderr, and $status to its exit code.
tool() {
    status=0
    "$AUTOTUNE" "$@" >out.txt 2>err.txt || status=$?
    output=$(cat out.txt)
    errors=$(cat err.txt)
}

fails_with() { # fails_with CODE TEXT: checks the exit code, and that an error of at most 25 lines contains TEXT
    [ "$status" -eq "$1" ] || { echo "exit $status, not $1: $errors"; return 1; }
    [[ "$errors" == *"$2"* ]] || { echo "no '$2' in: $errors"; return 1; }
    [ "$(wc -l <err.txt)" -le 25 ] || { echo "the error is $(wc -l <err.txt) lines long"; return 1; }
}

says() { # says TEXT: checks that stdout contains TEXT, which may be wrapped to the next line
    [[ "$output" == *"$1"* || "$(tr -s ' \n' ' ' <<<"$output")" == *"$1"* ]] || { echo "no '$1' in: $output"; return 1; }
}

# In bats, `! grep` fails a test only if it is the last command.
can_fail() { # can_fail FILE: checks that no line of the file begins with `!`
    grep -nE '^ *! ' "$1" | grep -v '||' || return 0
    echo "a line that begins with '!' fails no test: use lacks, or if ...; then return 1; fi"
    return 1
}

lacks() { # lacks GREP-ARGUMENTS: checks that grep finds nothing in files that exist
    local code=0
    grep "$@" || code=$?
    [ "$code" -eq 1 ] || { echo "grep $* ended with $code"; return 1; }
}

succeeds() {
    [ "$status" -eq 0 ] || { echo "exit $status: $errors"; return 1; }
}

says_nothing_of() { # says_nothing_of TEXT: checks that stdout does not contain TEXT
    [[ "$output" != *"$1"* ]] || { echo "'$1' in: $output"; return 1; }
}
