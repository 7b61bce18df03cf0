# Functions for roots of Debians of other releases. Other scripts read this file.

# The mirror that this machine uses, if it is a Debian; otherwise nothing.
debian_mirror() {
  grep -hsE '^URIs:|^deb ' /etc/apt/sources.list /etc/apt/sources.list.d/* | grep -oE 'https?://[^ ]*/debian/?( |$)' | head -n 1
}

# debian_root SUITE FOLDER PACKAGES: makes debootstrap's smallest root with more packages, named with commas.
debian_root() {
  mkdir -p "$2"
  # shellcheck disable=SC2046 # no word where there is no mirror
  debootstrap --variant=minbase --include="ca-certificates,$3" "$1" "$2" $(debian_mirror) >"$2.log" 2>&1 || {
    tail -n 20 "$2.log" >&2
    exit 1
  }
  rm -rf "$2"/var/cache/apt/archives/*.deb
}
