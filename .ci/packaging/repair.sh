#!/bin/sh
# Copies the libraries that a wheel needs into it, then licences and lists (.ci/packaging/complete.py). auditwheel refuses a
# wheel that needs more than glibc 2.34. Python and auditwheel of .ci/packaging/tools.txt are those of the PATH.
#
# usage: .ci/packaging/repair.sh WHEEL FOLDER
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}"
python -m auditwheel repair --plat "manylinux_2_34_$(uname -m)" --zip-compression-level 1 -w "$work" "$1" 2>"$work/log" || { cat "$work/log" >&2; exit 1; }
python .ci/packaging/complete.py "$work"/*.whl "$2"
