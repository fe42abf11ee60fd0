#!/bin/sh
# Makes the wheel of a build, installs it into an empty environment and uses it. usage: wheel.sh BUILD FAKE_CUDA; exit
# code 77: a needed program is missing
set -eu
build=$1 FAKE_CUDA=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$build/tests/wheel
rm -rf "$work"
/usr/bin/python3 -c 'import venv, ensurepip' 2>/dev/null || { echo "skipped: there is no python3-venv"; exit 77; }
cmake --build "$build" --target wheel >"$build/tests/wheel.log" 2>&1 || { tail -20 "$build/tests/wheel.log"; exit 1; }
/usr/bin/python3 -m venv "$work"
PIP_DISABLE_PIP_VERSION_CHECK=1 "$work/bin/pip" install --quiet --no-index "$build"/dist/*.whl
# leaves the folder, so that Python finds only the installed module
cd /
FAKE_CUDA=$FAKE_CUDA exec env -u AUTOTUNE_LIBRARY -u PYTHONPATH -u LD_LIBRARY_PATH "$work/bin/python" "$here/python_consumer.py"
