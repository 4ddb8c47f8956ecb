#!/bin/sh
# Prints what a shell evaluates before it builds with CUDA: TAGS, and the C flags
# with the headers in them. Where no headers can be had TAGS is empty and the
# flags stay as they are. One line on standard error says which, and why.
#
#   CUDA=no               leave CUDA out
#   CUDA_HOME, CUDA_PATH  a CUDA 11 to 13 toolkit, before those that are looked for
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$here/../.." && pwd)/.build/cuda
package=$build/package/nvidia/cuda_runtime/include

without() {
	echo "building without CUDA: $1" >&2
	echo "TAGS="
	exit 0
}

# installed finds the headers of a toolkit on this machine.
installed() {
	for home in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda /usr/local/cuda-* /opt/cuda /usr; do
		for include in "$home/include" "$home/targets/$(uname -m)-linux/include"; do
			if [ -n "$home" ] && [ -f "$include/cuda.h" ]; then
				echo "$include"
				return
			fi
		done
	done
	return 1
}

# packaged brings the headers of the pinned package here, once.
packaged() {
	if [ ! -f "$package/cuda.h" ]; then
		command -v python3 >/dev/null || { echo "python3 is missing" && return 1; }
		rm -rf "$build/download" "$build/package"
		mkdir -p "$build"
		python3 -m pip download --quiet --disable-pip-version-check --no-input --retries 1 --timeout 20 \
			--no-deps --require-hashes --only-binary=:all: \
			-r "$here/requirements.txt" -d "$build/download" >"$build/pip.log" 2>&1 ||
			{ grep -v '^ *$' "$build/pip.log" | tail -n 1 && return 1; }
		python3 -m zipfile -e "$build"/download/*.whl "$build/unpacked" &&
			mv "$build/unpacked" "$build/package" && rm -rf "$build/download" || return 1
	fi
	echo "$package"
}

[ "${CUDA:-}" != no ] || without "CUDA=no"
[ "$(uname -s)" = Linux ] || without "it is for Linux"
include=$(installed) || include=$(packaged) ||
	without "no toolkit is installed (set CUDA_HOME), and NVIDIA's package of headers could not be had: $include"
case $include in *[!A-Za-z0-9/._+-]*) without "the path $include has characters that cgo does not take" ;; esac

# gorgonia.org/cu asks the linker for libcuda. The program must not need it to
# start: this one is empty, and the driver is loaded when it is asked for.
mkdir -p "$build/lib"
[ -f "$build/lib/libcuda.a" ] || ar rc "$build/lib/libcuda.a"

echo "building with CUDA: headers in $include" >&2
echo "TAGS=cuda"
echo "export CGO_CFLAGS='${CGO_CFLAGS:--O2 -g} -I$here/include -I$include'"
echo "export CGO_LDFLAGS='${CGO_LDFLAGS:--O2 -g -Wl,-z,lazy} -L$build/lib'"
