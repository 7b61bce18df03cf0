#!/bin/sh
# Tries the wheels of build/release in bare Debians, and the steps of the Dockerfile. Called by `./dev release-check`, from
# the root; needs to be root of this machine, for chroot.
#
# usage: .ci/packaging/check.sh [SUITE[:REQUIREMENT,...] | sdist | Dockerfile]...
# Without arguments: each suite whose Python has a wheel, with today's NumPy and Gymnasium, and with older ones; then a
# training by Stable-Baselines3 on Debian 12 (a REQUIREMENT of --learn), and the sdist. The wheel for aarch64 is tried in
# bookworm-arm64 under qemu, also by tests (a REQUIREMENT of --tests).
set -eu
out=build/release
given=build/bare/given
rm -rf "$given"
mkdir -p "$given"
cp "$out"/*.whl .ci/packaging/try_wheel.py tests/python/golden_episodes.py tests/data/golden_episodes.json tests/data/meshes/box.stl docs/first-training.md "$given"
has_wheel() { ls "$out"/*-"$1"-*_"$2".whl >/dev/null 2>&1; }

try_sdist() {
  cp "$out"/*.tar.gz "$given"
  sed -n '/^```python$/,/^```$/p' README.md | grep -v '^```' >"$given/example.py"
  PACKAGES=$(sed -n 's/^sudo apt install //p' docs/building.md) .ci/packaging/bare.sh bookworm "$given" sh -euc '
    python3 -m venv venv
    venv/bin/pip install -q /given/*.tar.gz
    venv/bin/python /given/example.py
    venv/bin/python /given/golden_episodes.py /given/golden_episodes.json
  '
}

try_dockerfile() {
  python3 .ci/packaging/dockerfile.py Dockerfile >"$given/dockerfile.sh"
  .ci/packaging/bare.sh trixie "$given" sh /given/dockerfile.sh list
}

own=$(uname -m)
if [ $# = 0 ]; then
  ! has_wheel cp311 "$own" || set -- bookworm "bookworm:numpy==1.26.*,gymnasium==1.1.*"
  ! has_wheel cp313 "$own" || set -- "$@" trixie "trixie:numpy==2.2.*,gymnasium==1.2.2" Dockerfile
  ! has_wheel cp311 "$own" || set -- "$@" "bookworm:--learn,torch==2.13.0"
  set -- "$@" sdist
  [ "$own" = aarch64 ] || ! has_wheel cp311 aarch64 || set -- "$@" bookworm-arm64 bookworm-arm64:--tests
fi
for corner in "$@"; do
  suite=${corner%%:*} requirements=""
  [ "$suite" = "$corner" ] || requirements=$(echo "${corner#*:}" | tr , ' ')
  echo "===== $suite $requirements"
  case $suite:$requirements in
    sdist:) try_sdist ;;
    Dockerfile:) try_dockerfile ;;
    *:--tests)
      cp -r tests examples pyproject.toml .ci/packaging/try_tests.sh "$given"
      .ci/packaging/bare.sh "$suite" "$given" sh /given/try_tests.sh /given
      ;;
    *)
      # shellcheck disable=SC2086 # words
      (set -f && .ci/packaging/bare.sh "$suite" "$given" python3 /given/try_wheel.py /given $requirements)
      ;;
  esac
done
