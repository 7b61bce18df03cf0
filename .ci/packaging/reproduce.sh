#!/bin/sh
# Builds the wheel of the committed state again, in another folder, without a cache, and compares its bytes with those in
# build/release. Called by `./dev reproduce`, from the root.
#
# usage: .ci/packaging/reproduce.sh PYTHON | arm64
# With arm64 it is the wheel of `./dev release-arm64`, built with the same root.
set -eu
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH CCACHE_DISABLE=1
git archive HEAD | tar -x -C "$work"
if [ "$1" = arm64 ]; then
  mkdir -p "$work/build/bare"
  ln -s "$root/build/bare/arm64" "$work/build/bare/"
  (cd "$work" && sh .ci/packaging/arm64.sh >/dev/null)
else
  (cd "$work" && sh .ci/packaging/release.sh "$1" >/dev/null)
fi
status=0
for file in "$work"/build/release/*.whl "$work"/build/release/*.tar.gz; do
  [ -f "$file" ] || continue # no sdist with arm64
  name=${file##*/}
  if cmp "$file" "$root/build/release/$name"; then
    echo "reproduce: the same bytes: $name"
  else
    status=1
    python3 - "$file" "$root/build/release/$name" <<'END'
import sys, zipfile
if sys.argv[1].endswith(".whl"):
    one, other = (zipfile.ZipFile(path) for path in sys.argv[1:])
    for name in sorted({*one.namelist(), *other.namelist()}):
        if name not in one.namelist() or name not in other.namelist() or one.read(name) != other.read(name):
            print("reproduce: differs:", name)
END
  fi
done
exit "$status"
