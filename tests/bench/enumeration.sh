#!/bin/sh
# Compares the enumeration of search spaces with that of Kernel Tuner 1.4 and pyATF. Installs both from PyPI into its
# own folder. Usage: enumeration.sh AUTOTUNE [SPACE...]
set -eu
here=$(dirname "$0")
environment=${AUTOTUNE_BENCH_PYTHON:-${XDG_CACHE_HOME:-$HOME/.cache}/autotune/bench-python}
if [ ! -x "$environment/bin/python" ]; then
    python3 -m venv "$environment"
    "$environment/bin/pip" install --quiet kernel_tuner==1.4 pyatf
fi
exec "$environment/bin/python" "$here/enumeration.py" "$@"
