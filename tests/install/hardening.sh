#!/bin/sh
# usage: hardening.sh READELF FILE... : checks that each file has the hardening of an optimised build
readelf=$1
shift
failed=0
lacks() {
    echo "$file has no $1"
    failed=1
}
for file; do
    [ -n "$file" ] || continue
    "$readelf" -hW "$file" | grep -q 'Type: *DYN' || lacks 'random base address'
    "$readelf" -lW "$file" | grep -q GNU_RELRO || lacks RELRO
    "$readelf" -dW "$file" | grep -qE 'BIND_NOW|Flags:.* NOW' || lacks BIND_NOW
    "$readelf" -lW "$file" | grep -E GNU_STACK | grep -q 'RWE' && lacks 'stack without execution'
    "$readelf" -W --dyn-syms "$file" | grep -q __stack_chk_fail || lacks 'stack protector'
    "$readelf" -W --dyn-syms "$file" | grep -qE '__(memcpy|snprintf|vsnprintf|read)_chk' ||
        lacks _FORTIFY_SOURCE
done
exit $failed
