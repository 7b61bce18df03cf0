#!/bin/sh
# Builds the wheels of a release and the sdist, in build/release. Called by `./dev release`, from the root.
#
# usage: .ci/packaging/release.sh PYTHON...
# Each PYTHON is an interpreter with its headers, or a suite of Debian (trixie), which stands for that suite's Python.
# RELEASE names another folder than build/release. The libraries are those of this system, Debian 12.
set -eu
. .ci/packaging/tools.sh
out=${RELEASE:-build/release}
# the times in the archives: those of the commit
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}"
say() { echo "release: $*" >&2; }

rm -rf "$out"
mkdir -p "$out/raw"
for python in "$@"; do
  case $python in
    */* | python*) ;;
    *) python=$(PATH=$PWD/$(tools_of /usr/bin/python3)/bin:$PATH sh .ci/packaging/python.sh "$python") ;;
  esac
  tools=$(tools_of "$python")
  say "a wheel for $("$python" -V)"
  "$tools/bin/python" -m pip wheel -q --no-deps --no-build-isolation -w "$out/raw" . \
    --config-settings=build-dir="build/release-${tools##*/}" --config-settings=cmake.define.MVSIM_WHEEL=ON
done
for wheel in "$out"/raw/*.whl; do PATH=$PWD/$tools/bin:$PATH sh .ci/packaging/repair.sh "$wheel" "$out"; done
"$tools/bin/python" -c "import sys; from scikit_build_core.build import build_sdist; build_sdist(sys.argv[1])" "$out" >/dev/null
rm -r "$out/raw"
(cd "$out" && sha256sum ./*.whl ./*.tar.gz | tee SHA256SUMS)
