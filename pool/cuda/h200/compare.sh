#!/usr/bin/env bash
# Measures the pools and the arena beside other allocators on this machine's GPU and
# prints the figures; compare.txt is what it printed on an H200.
#
#   compare.sh BINARY [WHEELS]
#
# BINARY is the test binary of pool/cuda, built where Go is:
#   eval "$(sh pool/cuda/environment.sh)"; go test -tags cuda -c -o bin/cuda.test ./pool/cuda
# WHEELS is a folder with RMM for this Python (rmm_cu13, librmm_cu13, rapids_logger).
# python3 needs torch and cupy. Whatever is missing is said and left out.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
binary=$(realpath "$1")
if [ -n "${2:-}" ]; then
	site=$(mktemp -d)
	trap 'rm -rf "$site"' EXIT
	python3 -m pip install --quiet --no-index --no-deps --no-compile --target "$site" \
		"$2"/librmm_cu13-*.whl "$2"/rmm_cu13-*.whl "$2"/rapids_logger-*.whl
	export PYTHONPATH=$site
fi
cd "$here/.."
python3 "$here/compare.py" "$binary"
