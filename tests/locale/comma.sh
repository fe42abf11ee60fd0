#!/bin/sh
# Runs a test in Turkish, where one and a half is 1,5, and the small letter of I is none of ASCII: whatever it starts that
# is autotune, or a test of its library, has called setlocale(LC_ALL, "tr_TR.UTF-8") before it begins.
#
# usage: comma.sh [--or-plainly] PRELOAD COMMAND...
#
# Where there is no such locale and none can be made, the test is skipped (77), or with --or-plainly runs in the C locale.
set -eu
plainly=
if [ "$1" = --or-plainly ]; then
    plainly=yes
    shift
fi
preload=$1
shift

without() { # without REASON COMMAND...
    echo "not in Turkish: $1"
    shift
    [ -n "$plainly" ] || exit 77
    code=0
    "$@" || code=$?
    exit $code
}

LOCPATH=$(mktemp -d)
trap 'rm -rf "$LOCPATH"' EXIT
command -v localedef >/dev/null || without "there is no localedef (Debian: libc-bin)" "$@"
# It warns, and ends with 1, of what is missing in the definition.
localedef -i tr_TR -f UTF-8 "$LOCPATH/tr_TR.UTF-8" >"$LOCPATH/said" 2>&1 || [ -e "$LOCPATH/tr_TR.UTF-8/LC_NUMERIC" ] ||
    without "localedef has no tr_TR (Debian: locales): $(head -n 1 "$LOCPATH/said")" "$@"
export LOCPATH COMMA_LOCALE=tr_TR.UTF-8
code=0
# What glibc keeps of a locale that it loaded is no leak of ours; the same tests in the C locale look for those.
env LD_PRELOAD="$preload" ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 "$@" || code=$?
exit $code
