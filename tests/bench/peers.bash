# Builds the programs of tests/bench/peers, for scripts that run these. The scripts set `root` and `build`.
# shellcheck shell=bash
sources=$root/tests/bench/peers
programs=$build/peers
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
if ! [ -f "$build/lib/libautotune.so" ]; then
    echo "$build has no libautotune.so, as a portable build has none: give another build folder (build/release)" >&2
    exit 2
fi
mkdir -p "$programs"

# compile NAME: makes the object file of a program; the compiler's output goes to NAME.log
compile() {
    local source
    for source in "$sources/$1.cu" "$sources"/*.h; do
        if ! [ "$programs/$1.o" -nt "$source" ]; then
            "$nvcc" -std=c++17 -O2 -arch="${PEERS_ARCH:-native}" -I "$root/tuner/include" -c "$sources/$1.cu" \
                -o "$programs/$1.o" >"$programs/$1.log" 2>&1 || rm -f "$programs/$1.o"
            return
        fi
    done
}

# build_peers NAME...: makes the object files of these programs and the shared object files
build_peers() {
    local name
    for name in bench shapes harness "$@"; do
        [ "$name" = torch ] || compile "$name" &
    done
    wait
}

# link_peer NAME: links a program
link_peer() {
    local name libraries='' objects="$1 harness bench shapes"
    case $1 in
    transpose | matmul | dot | loop_order) libraries=-lcublas ;;
    npp) if grep -q 'nppiCopy_8u_C3P3R_Ctx' "$programs/npp.o"; then libraries="-lnppidei -lnppif -lnppc"; fi ;;
    memory) objects="memory bench" ;;
    esac
    for name in $objects; do
        [ -f "$programs/$name.o" ] || return
    done
    # shellcheck disable=SC2086,SC2046
    "$nvcc" -arch="${PEERS_ARCH:-native}" $(printf "$programs/%s.o " $objects) -o "$programs/$1" \
        -L "$build/lib" -lautotune $libraries -Xlinker -rpath="$build/lib" >>"$programs/$1.log" 2>&1
}

# why_not NAME: prints the first error of the compiler or linker for a program
why_not() {
    cat "$programs"/{bench,shapes,harness,"$1"}.log 2>/dev/null | grep -m 1 -i error
}
