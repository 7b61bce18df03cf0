# Functions for roots of Debians of other releases and processors. Other scripts read this file.

# The mirror that this machine uses, if it is a Debian; otherwise nothing.
debian_mirror() {
  grep -hsE '^URIs:|^deb ' /etc/apt/sources.list /etc/apt/sources.list.d/* | grep -oE 'https?://[^ ]*/debian/?( |$)' | head -n 1
}

# debian_root SUITE FOLDER PACKAGES: makes debootstrap's smallest root with more packages, named with commas. SUITE may end
# in a processor: bookworm-arm64.
debian_root() {
  processor=$(dpkg --print-architecture)
  case $1 in *-*) processor=${1#*-} ;; esac
  if [ "$processor" = arm64 ]; then run_aarch64; fi
  mkdir -p "$2"
  # shellcheck disable=SC2046 # no word where there is no mirror
  debootstrap --arch="$processor" --variant=minbase --include="ca-certificates,$3" "${1%%-*}" "$2" $(debian_mirror) >"$2.log" 2>&1 || {
    tail -n 20 "$2.log" >&2
    exit 1
  }
  rm -rf "$2"/var/cache/apt/archives/*.deb
}

# Lets this machine run programs for aarch64, by qemu-user-static, until it starts again. The flag F opens the emulator now,
# so that programs in other roots find it.
run_aarch64() {
  [ "$(uname -m)" != aarch64 ] || return 0
  formats=/proc/sys/fs/binfmt_misc
  [ -e "$formats/register" ] || mount -t binfmt_misc binfmt_misc "$formats"
  [ -e "$formats/qemu-aarch64" ] || printf '%s' ':qemu-aarch64:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:/usr/bin/qemu-aarch64-static:OCF' >"$formats/register"
}
