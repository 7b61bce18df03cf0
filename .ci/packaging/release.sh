#!/bin/sh
# Builds the wheels of a release and the sdist, in build/release. Called by `./dev release`, from the root.
#
# usage: .ci/packaging/release.sh PYTHON...
# Each PYTHON is an interpreter with its headers, or a suite of Debian (trixie), which stands for that suite's Python.
# RELEASE names another folder than build/release. The libraries are those of this system, Debian 12.
set -eu
out=${RELEASE:-build/release}
# the times in the archives: those of the commit
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}"
say() { echo "release: $*" >&2; }

# A virtual environment of an interpreter with .ci/packaging/tools.txt; prints its folder. The pip of the first one
# installs into the others, as the pip that comes with one Python may not run with another.
tools_of() {
  folder=build/release-tools/$("$1" -c "import sys; print(sys.implementation.cache_tag + sys.abiflags)")
  [ "$(cat "$folder/installed" 2>/dev/null)" = "$(cat .ci/packaging/tools.txt)" ] || {
    rm -rf "$folder"
    "$1" -m venv --without-pip "$folder"
    "$pip" --python "$folder/bin/python" install -q -r .ci/packaging/tools.txt
    cp .ci/packaging/tools.txt "$folder/installed"
  }
  echo "$folder"
}

rm -rf "$out"
mkdir -p "$out/raw"
pip=build/release-tools/pip/bin/pip
[ -x "$pip" ] || {
  /usr/bin/python3 -m venv build/release-tools/pip
  "$pip" install -q "$(grep '^pip==' .ci/packaging/tools.txt)"
}
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
