#!/bin/sh
# Runs a test in a Turkish locale, in which one and a half is 1,5 and the lower-case I is not ASCII. Each autotune and
# each test of its library that the test starts calls setlocale(LC_ALL, "tr_TR.UTF-8") before main().
#
# usage: comma.sh [--or-plainly] PRELOAD COMMAND...
#
# If this locale does not exist and cannot be made, the test is skipped (77). With --or-plainly it runs in the C
# locale.
set -eu
plainly=
if [ "$1" = --or-plainly ]; then
    plainly=yes
    shift
fi
preload=$1
shift

without() { # without REASON COMMAND...: skips the test, or runs it in the C locale
    echo "not in Turkish: $1"
    shift
    [ -n "$plainly" ] || exit 77
    code=0
    "$@" || code=$?
    exit $code
}

# The first test makes the locale, which takes a second, beside the preloaded library.
LOCPATH=$(dirname "$preload")/turkish
if [ ! -d "$LOCPATH" ]; then
    command -v localedef >/dev/null || without "there is no localedef (Debian: libc-bin)" "$@"
    made=$(mktemp -d "$LOCPATH.XXXXXX")
    trap 'rm -rf "$made"' EXIT
    # It warns, and ends with 1, if parts of the definition are missing.
    localedef -i tr_TR -f UTF-8 "$made/tr_TR.UTF-8" >"$made/said" 2>&1 || [ -e "$made/tr_TR.UTF-8/LC_NUMERIC" ] ||
        without "localedef has no tr_TR (Debian: locales): $(head -n 1 "$made/said")" "$@"
    # A test that runs at the same time may have made it.
    chmod 755 "$made" # tests run the program as another user
    mv -T "$made" "$LOCPATH" 2>/dev/null || rm -rf "$made"
    trap - EXIT
fi
export LOCPATH COMMA_LOCALE=tr_TR.UTF-8
# glibc keeps memory of a loaded locale, which is not a leak of ours; the same tests in the C locale look for leaks.
exec env LD_PRELOAD="$preload" ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 "$@"
