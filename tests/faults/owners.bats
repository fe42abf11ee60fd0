load helpers

# If another user could have written a file, the file is not read. The run works without it and prints a warning.

few() { # few [OPTION]...: runs four configurations, with a separate cache
    gpu
    needs_the_fake
    export XDG_CACHE_HOME=$WORK/own
    tool "$TIMED" --device cuda:0 --quiet --no-record --only a=11,12 --only b=5,6 "$@"
    succeeds
}

hardly_belong() { # hardly_belong FILE...: gives the files to another user, which only root can do
    [ "$(id -u)" -eq 0 ] || skip "only root gives files away"
    chown nobody "$@"
}

# the folders of compiled code and of the journal
cached() { echo "$WORK"/own/autotune/*; }
kept() { echo "$XDG_STATE_HOME/autotune/journal"; }

@test "a cache or a journal that others may write is not read, and a warning says so" {
    few
    chmod 777 "$(cached)" "$(kept)"
    few
    says "others may write the folder $(cached)"
    says "the run keeps no journal: others may write the folder $(kept)"
    chmod 700 "$(cached)" "$(kept)"
    chmod 666 "$(kept)"/*
    few
    says "belongs to another user, or others may write it: it is not read; remove it"
}

@test "a cache or a journal of another user is not read, and a warning says so" {
    few
    hardly_belong "$(cached)" "$(kept)"
    few
    says "the folder $(cached) belongs to another user"
    says "the run keeps no journal: the folder $(kept) belongs to another user"
    chown "$(id -u)" "$(cached)" "$(kept)"
    hardly_belong "$(kept)"/*
    few
    says "belongs to another user, or others may write it: it is not read; remove it"
}

@test "compiled code of another user in the cache is compiled again" {
    few
    before=$(find "$(cached)" -type f -name '????????????????????????????????')
    [ -n "$before" ]
    rm -rf "$XDG_STATE_HOME"
    # shellcheck disable=SC2086 # names without spaces
    hardly_belong $before
    few
    # The file was replaced.
    [ -z "$(find "$(cached)" -type f -user nobody)" ]
}
