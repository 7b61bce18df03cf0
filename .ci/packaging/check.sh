#!/bin/sh
# Tries the wheels of build/release in bare Debians, and the steps of the Dockerfile. Called by `./dev release-check`, from
# the root; needs to be root of this machine, for chroot.
#
# usage: .ci/packaging/check.sh [SUITE[:REQUIREMENT,...]...]
# Without arguments: each suite whose Python has a wheel, with today's NumPy and Gymnasium, and with older ones; then a
# training by Stable-Baselines3 on Debian 12 (a REQUIREMENT of --learn), and the sdist.
set -eu
out=build/release
given=build/bare/given
rm -rf "$given"
mkdir -p "$given"
cp "$out"/*.whl .ci/packaging/try_wheel.py tests/python/golden_episodes.py tests/data/golden_episodes.json tests/data/meshes/box.stl docs/first-training.md "$given"
has_wheel() { ls "$out"/*-"$1"-*.whl >/dev/null 2>&1; }
tries_sdist=""
if [ $# = 0 ]; then
  tries_sdist=yes
  ! has_wheel cp311 || set -- bookworm "bookworm:numpy==1.26.*,gymnasium==1.1.*"
  ! has_wheel cp313 || set -- "$@" trixie "trixie:numpy==2.2.*,gymnasium==1.2.2"
  ! has_wheel cp311 || set -- "$@" "bookworm:--learn,torch==2.13.0"
fi
for corner in "$@"; do
  suite=${corner%%:*} requirements=""
  [ "$suite" = "$corner" ] || requirements=$(echo "${corner#*:}" | tr , ' ')
  echo "===== $suite $requirements"
  # shellcheck disable=SC2086 # words
  (set -f && .ci/packaging/bare.sh "$suite" "$given" python3 /given/try_wheel.py /given $requirements)
done
if [ "$tries_sdist" ]; then
  echo "===== sdist, with the packages that docs/building.md names"
  cp "$out"/*.tar.gz "$given"
  sed -n '/^```python$/,/^```$/p' README.md | grep -v '^```' >"$given/example.py"
  PACKAGES=$(sed -n 's/^sudo apt install //p' docs/building.md) .ci/packaging/bare.sh bookworm "$given" sh -euc '
    python3 -m venv venv
    venv/bin/pip install -q /given/*.tar.gz
    venv/bin/python /given/example.py
  '
fi
has_wheel cp313 || {
  echo "===== Dockerfile: not tried, as its Python is 3.13 and there is no wheel for it"
  exit
}
echo "===== Dockerfile"
python3 .ci/packaging/dockerfile.py Dockerfile >"$given/dockerfile.sh"
.ci/packaging/bare.sh trixie "$given" sh /given/dockerfile.sh list
