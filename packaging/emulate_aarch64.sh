#!/usr/bin/env bash
# Runs the native tests on an emulated aarch64 machine: Debian's Python for it under qemu-user, the
# wheels of PyPI, and the module as cross_compile.py makes it. Needs apt-get and qemu-user; the
# list of Debian's packages is kept apart from that of the system.
#
#   packaging/emulate_aarch64.sh PYTHON [arguments of pytest]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python="$1"
shift
folder="$PWD/build/aarch64"
root="$folder/root"
packages="$folder/packages"

if [ ! -x "$root/usr/bin/python3.11" ]; then
    rm -rf "$folder"
    mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial" "$folder/debs"
    apt=(apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User=root
        -o Dir::State::Lists="$folder/lists" -o Dir::Cache="$folder/cache")
    "${apt[@]}" update
    (cd "$folder/debs" && "${apt[@]}" download libc6 libgcc-s1 libstdc++6 zlib1g libexpat1 libssl3 libffi8 \
        libbz2-1.0 liblzma5 libuuid1 libsqlite3-0 libpython3.11-minimal libpython3.11-stdlib \
        python3.11-minimal libpython3.11-dev)
    for deb in "$folder"/debs/*.deb; do dpkg -x "$deb" "$root"; done
fi
# The pure packages are those of any machine.
if [ ! -d "$packages" ]; then
    "$python" -m pip install --quiet --target "$packages.new" --only-binary=:all: --python-version 3.11 \
        --platform manylinux_2_28_aarch64 --platform manylinux2014_aarch64 --platform manylinux_2_17_aarch64 \
        --platform any --implementation cp --abi cp311 --abi none --abi abi3 \
        numpy scipy scikit-learn threadpoolctl pytest pytest-timeout hypothesis
    mv "$packages.new" "$packages"
fi
# pyconfig.h of Debian hands on to the one of the processor.
include="$folder/include"
rm -rf "$include"
cp -rL "$root/usr/include/python3.11" "$include"
cp "$root/usr/include/aarch64-linux-gnu/python3.11/pyconfig.h" "$include/pyconfig.h"
"$python" packaging/cross_compile.py --target aarch64-linux --out "$folder/module" --include "$include" --link
rm -rf "$packages/sparseksc"
cp -r src/sparseksc "$packages/sparseksc"
find "$packages/sparseksc" -name '*.so' -delete
cp "$folder/module/aarch64-linux/_core.so" "$packages/sparseksc/_native/_core.so"

export PYTHONPATH="$packages:$PWD" PYTHONHOME="$root/usr" OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
emulated="$folder/python"
printf '#!/bin/sh\nexec qemu-aarch64 -L "%s" "%s" "$@"\n' "$root" "$root/usr/bin/python3.11" > "$emulated"
chmod +x "$emulated"
# The system starts no program of another processor: processes that tests spawn are emulated, too.
echo "import sys; sys.executable = '$emulated'" > "$packages/sitecustomize.py"
"$emulated" -c "import platform; from sparseksc._native import _core
print(platform.machine(), platform.python_version(), _core.variants())"
"$emulated" -m pytest --quiet -p no:cacheprovider -o timeout=3000 "$@"
