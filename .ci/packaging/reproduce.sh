#!/bin/sh
# Builds the wheel of the committed state again, in another folder, without a cache, and compares its bytes with those in
# build/release. Called by `./dev reproduce`, from the root.
#
# usage: .ci/packaging/reproduce.sh PYTHON
set -eu
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH CCACHE_DISABLE=1
git archive HEAD | tar -x -C "$work"
(cd "$work" && sh .ci/packaging/release.sh "$1" >/dev/null)
status=0
for file in "$work"/build/release/*.whl "$work"/build/release/*.tar.gz; do
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
