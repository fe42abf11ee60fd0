#!/bin/sh
# Copies the examples of docs/examples, and builds and runs them with an installed autotune. usage: examples.sh BUILD
# EXAMPLES; if an example needs a missing program, it is named and skipped
set -eu
build=$1 examples=$2 work=$1/tests/examples
rm -rf "$work"
cmake --install "$build" --prefix "$work/prefix" >/dev/null
cp -R "$examples" "$work/examples"
cd "$work/examples"
export PATH="$work/prefix/bin:$PATH" XDG_CACHE_HOME="$work/cache"
PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name autotune.pc)")
LD_LIBRARY_PATH=$(dirname "$PKG_CONFIG_PATH")
export PKG_CONFIG_PATH LD_LIBRARY_PATH

prints() { # prints NAME PATTERN COMMAND...: runs the command and checks that its output matches PATTERN
    name=$1 pattern=$2
    shift 2
    "$@" >"$work/out.txt" 2>&1 || { echo "$name: $* ended with $?"; cat "$work/out.txt"; exit 1; }
    grep -Eq "$pattern" "$work/out.txt" || { echo "$name: no '$pattern' in what it printed:"; cat "$work/out.txt"; exit 1; }
    echo "ok $name"
}
has() { command -v "$1" >/dev/null || { echo "left out: there is no $1"; return 1; }; }
made() { make -s -C "$1" "$2" >"$work/make.txt" 2>&1 || { echo "$1: make $2"; cat "$work/make.txt"; exit 1; }; }

made c_library pick
prints c_library 'tile_x=[0-9]+.*\(exact\)' c_library/pick
cmake -S cmake_embed -B cmake_embed/build -DCMAKE_PREFIX_PATH="$work/prefix" >/dev/null
cmake --build cmake_embed/build >/dev/null
prints cmake_embed 'tile [0-9]+ x [0-9]+' cmake_embed/build/embedded
if has nvcc; then
    made cpp_header transposed
    prints cpp_header '^(right|no GPU)$' cpp_header/transposed
    made exported_cuda added
    prints exported_cuda '^(right|no GPU)$' exported_cuda/added
fi
if has mpicc && has mpirun; then
    made mpi_sites summed
    prints mpi_sites 'rank 1: 65536, block [0-9]+' env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
        mpirun --oversubscribe -n 2 mpi_sites/summed
fi
python=$build/tests/wheel/bin/python
if [ -x "$python" ]; then
    prints python_torch "'step'" env -u LD_LIBRARY_PATH "$python" python_torch/main.py
else
    echo "left out: the wheel is not installed"
fi
for folder in */; do
    [ "$(wc -l <"$folder/README.md")" -le 12 ] || { echo "$folder: its README has more than 12 lines"; exit 1; }
done
