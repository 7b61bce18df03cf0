#!/bin/sh
# Builds the wheel for aarch64 on another processor, by Debian's cross compiler, and adds it to build/release. Compares the
# golden hashes of its C++ code with those of x86-64, under qemu. Called by `./dev release-arm64`, from the root; needs root,
# debootstrap and qemu-user-static.
#
# RELEASE names another folder than build/release. A root of Debian 12 for aarch64 with the libraries is made once, in
# build/bare/arm64. Its programs, auditwheel for one, run under qemu.
set -eu
. .ci/packaging/tools.sh
. .ci/packaging/debian.sh
out=${RELEASE:-build/release}
root=$PWD/build/bare/arm64
export AARCH64_ROOT="$root" CMAKE_TOOLCHAIN_FILE="$PWD/.ci/packaging/aarch64.cmake"
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
box2d_flags="-O2 -ffp-contract=off -fno-tree-vectorize"
say() { echo "arm64: $*" >&2; }

# Runs a command in the root, where this folder is /source.
in_root() {
  mkdir -p "$root/source"
  # shellcheck disable=SC2016 # for the inner shell; mounts end with its name space
  root=$root unshare --mount --propagation private sh -euc '
    mount --bind "$PWD" "$root/source"
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    exec chroot "$root" sh -euc "cd /source && exec \"\$@\"" sh "$@"
  ' sh "$@"
}

# Debian's Box2D for aarch64 has fused multiply-adds, which round once where those of other processors round twice. The same
# source without them replaces it.
make_box2d() {
  folder=$PWD/build/bare/arm64-box2d
  rm -rf "$folder"
  mkdir -p "$folder"
  echo "deb-src $(grep -m 1 '^deb ' "$root/etc/apt/sources.list" | cut -d ' ' -f 2-)" >"$root/etc/apt/sources.list.d/source.list"
  in_root sh -c "apt-get update -qq && cd build/bare/arm64-box2d && apt-get source -qq --download-only box2d" >"$folder/log" 2>&1 || {
    tail -n 20 "$folder/log" >&2
    exit 1
  }
  dpkg-source --no-check -x "$folder"/box2d_*.dsc "$folder/source" >"$folder/log"
  cmake -S "$folder/source" -B "$folder/build" -G Ninja -DCMAKE_BUILD_TYPE=None -DBUILD_SHARED_LIBS=ON -DBOX2D_BUILD_TESTBED=OFF \
    -DBOX2D_BUILD_UNIT_TESTS=OFF -DCMAKE_CXX_FLAGS="$box2d_flags -ffile-prefix-map=$folder=" >"$folder/log"
  cmake --build "$folder/build" >"$folder/log"
  library=$(cd "$root/usr/lib/aarch64-linux-gnu" && readlink -f libbox2d.so)
  aarch64-linux-gnu-strip --strip-unneeded -o "$library" "$folder"/build/bin/libbox2d.so
  ! aarch64-linux-gnu-objdump -d "$library" | grep -qE '\bfn?m(add|sub)\b|\bfml[as]\b' || {
    say "$library still has fused multiply-adds"
    exit 1
  }
}

make_root() {
  [ ! -f "$root/made" ] || return 0
  say "making a root for aarch64, once"
  rm -rf "$root"
  debian_root bookworm-arm64 "$root" python3
  cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
  # shellcheck disable=SC2046 # words
  in_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3-dev libgtest-dev \
    $(sed -n 's/^sudo apt install //p' docs/building.md | tr ' ' '\n' | grep '^lib.*-dev$') >"$root.log" 2>&1 || {
    tail -n 20 "$root.log" >&2
    exit 1
  }
  rm -rf "$root"/var/cache/apt/archives/*.deb
  make_box2d
  touch "$root/made"
}

wheel() {
  host=$(tools_of /usr/bin/python3)
  tools=build/release-tools/arm64
  [ "$(cat "$tools/installed" 2>/dev/null)" = "$(cat .ci/packaging/tools.txt)" ] || {
    rm -rf "$tools"
    build/release-tools/pip/bin/pip install -q --target "$tools" --platform manylinux2014_aarch64 --only-binary=:all: \
      --implementation cp --python-version 3.11 -r .ci/packaging/tools.txt
    ln -s /usr/bin/python3 "$tools/bin/python"
    cp .ci/packaging/tools.txt "$tools/installed"
  }
  rm -rf "$out/raw"
  mkdir -p "$out/raw"
  say "a wheel for Python 3.11"
  suffix=.cpython-311-aarch64-linux-gnu.so
  _PYTHON_HOST_PLATFORM=linux-aarch64 SETUPTOOLS_EXT_SUFFIX=$suffix "$host/bin/python" -m pip wheel -q --no-deps --no-build-isolation \
    -w "$out/raw" . --config-settings=build-dir=build/release-arm64 --config-settings=cmake.define.PYTHON_MODULE_EXTENSION=$suffix \
    --config-settings=cmake.define.PYTHON_MODULE_DEBUG_POSTFIX= \
    --config-settings=cmake.define.MVSIM_WHEEL=ON --config-settings=cmake.define.Python_INCLUDE_DIR="$root/usr/include/python3.11" \
    --config-settings=cmake.define.MVSIM_TESTS=ON --config-settings=cmake.define.MVSIM_TEST_FILES=golden_test.cpp
  rm -f "$out"/*_aarch64.whl
  for file in "$out"/raw/*.whl; do
    in_root env BUILT_IN="$PWD" BUILT_OTHERWISE="libbox2d2=compiled from the same source with $box2d_flags" PATH="/source/$tools/bin:$PATH" PYTHONPATH="/source/$tools" sh .ci/packaging/repair.sh "$file" "$out"
  done
  rm -r "$out/raw"
  (cd "$out" && sha256sum ./*.whl $(ls ./*.tar.gz 2>/dev/null) | tee SHA256SUMS)
}

# The constants of x86-64, from the objects that the wheel is linked of.
golden_hashes() {
  cmake --build build/release-arm64 --target mvsim_tests
  QEMU_LD_PREFIX=$root build/release-arm64/mvsim_tests --gtest_brief=1
}

make_root
run_aarch64
wheel
golden_hashes
