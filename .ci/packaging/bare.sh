#!/bin/sh
# Runs a command in a bare Debian: debootstrap's smallest, with Python, pip and venv, without a compiler and without any
# library of ours. Used by `./dev release-check`. Needs root and debootstrap.
#
# usage: .ci/packaging/bare.sh SUITE FOLDER COMMAND...
# SUITE is Debian's (bookworm, trixie), or one for another processor (bookworm-arm64), whose programs run under qemu. FOLDER
# of this machine is /given there, read-only, and the command's folder is empty. PACKAGES names Debian packages more. The
# root is packed once, in build/bare/; what pip is told about indexes, and what tells of proxies and certificates, holds
# there too.
set -eu
suite=$1 given=$(realpath "$2")
shift 2
here=$(cd "$(dirname "$0")/../.." && pwd)
. "$here/.ci/packaging/debian.sh"
base=$here/build/bare
kept=$base/$suite.tar
say() { echo "bare: $*" >&2; }
case $suite in *-arm64) run_aarch64 ;; esac

if [ ! -f "$kept" ]; then
  say "$suite: making a root, once"
  rm -rf "$base/making-$suite"
  debian_root "$suite" "$base/making-$suite" python3,python3-venv
  tar -cf "$kept.part" -C "$base/making-$suite" .
  mv "$kept.part" "$kept"
  rm -rf "$base/making-$suite"
fi

root=$(mktemp -d "$base/$suite-XXXXXX")
trap 'rm -rf --one-file-system "$root"' EXIT
tar -xf "$kept" -C "$root"
cp --remove-destination -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/" # some machines have certificates of their own
for file in /etc/pip.conf /etc/xdg/pip "$HOME/.config/pip" /etc/resolv.conf /etc/hosts; do
  [ ! -e "$file" ] || { mkdir -p "$root$(dirname "$file")" && cp -rL "$file" "$root$(dirname "$file")/"; }
done
mkdir -p "$root/given" "$root/work"
# folders that pip is told to look into
folders=$(python3 -m pip config list 2>/dev/null | grep -oE "(file://)?/[^ ':\"]+" | sed 's#^file://##; s#/simple$##' | sort -u)
# shellcheck disable=SC2016 # for the inner shell; mounts end with its name space
root=$root given=$given folders=$folders unshare --mount --propagation private sh -euc '
  mount --bind -o ro "$given" "$root/given" && mount -o remount,bind,ro "$root/given"
  for folder in $folders; do
    [ -d "$folder" ] || continue
    mkdir -p "$root$folder" && mount --bind "$folder" "$root$folder"
  done
  mount -t proc proc "$root/proc"
  mount --rbind /dev "$root/dev"
  if [ -n "${PACKAGES:-}" ]; then
    chroot "$root" sh -c "apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $PACKAGES" \
      >"$root/work/log" 2>&1 || { tail -n 20 "$root/work/log" >&2; exit 1; }
    rm "$root/work/log"
  fi
  for name in $(env | grep -oE "^(PIP_[A-Z_]*|SSL_CERT[A-Z_]*|REQUESTS_CA_BUNDLE|https?_proxy|HTTPS?_PROXY|no_proxy|NO_PROXY|CI)="); do
    name=${name%=}
    eval "value=\$$name"
    set -- "$name=$value" "$@"
  done
  exec env -i HOME=/root TERM=dumb LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@" # variables first, then the command
' sh chroot "$root" sh -c 'cd /work && exec "$@"' sh "$@"
