#!/bin/sh
# Compares autotune's default strategy with every strategy that Kernel Tuner 1.4 offers by name, on recorded
# measurements, with equal evaluations and with equal recorded time. Installs Kernel Tuner and the packages of its
# strategies from PyPI into its own folder.
#
# Usage: replay.sh AUTOTUNE RECORDED SPACE_T1 [SEEDS [STRATEGY...]]
#   RECORDED is a T4 results file or a Kernel Tuner cache (gzip or not), SPACE_T1 its search space.
set -eu
here=$(dirname "$0")
environment=${AUTOTUNE_BENCH_PYTHON:-${XDG_CACHE_HOME:-$HOME/.cache}/autotune/bench-python-strategies}
if [ ! -x "$environment/bin/python" ]; then
    python3 -m venv "$environment"
    "$environment/bin/pip" install --quiet kernel_tuner==1.4 pyatf scikit-learn scikit-optimize pymoo
fi
exec "$environment/bin/python" "$here/replay.py" "$@"
