#!/bin/sh
# Runs `vramscope host` on this machine's GPU and prints what its screens, the
# driver and NVML say side by side; host.txt is what it printed beside one H200,
# host-two.txt beside two.
#
#   host.sh BINARY        built by `make build` with CUDA in it
#
# It needs python3 and the driver, and takes two minutes.
set -eu
exec python3 -u "$(dirname "$0")/host.py" "$(realpath "$1")"
