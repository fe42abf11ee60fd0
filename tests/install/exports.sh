#!/bin/sh
# Checks that the shared library exports exactly the functions that its header declares.
#
#   tests/install/exports.sh NM HEADER LIBRARY
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tr '\n' ' ' <"$2" | grep -oE 'AT_API [A-Za-z0-9_ *]*at_[a-z_]+\(' | grep -oE 'at_[a-z_]+\($' | tr -d '(' | sort -u >"$work/declared"
"$1" -D --defined-only "$3" | awk '{print $3}' | sort -u >"$work/exported"
[ "$(wc -l <"$work/declared")" -gt 30 ]
diff "$work/declared" "$work/exported"
