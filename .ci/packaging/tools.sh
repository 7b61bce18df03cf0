# Functions for the Python packages that build a release. Other scripts read this file.

# A virtual environment of an interpreter with .ci/packaging/tools.txt; prints its folder. One pip installs into all of
# them, as the pip that comes with one Python may not run with another.
tools_of() {
  pip=build/release-tools/pip/bin/pip
  [ -x "$pip" ] || {
    /usr/bin/python3 -m venv build/release-tools/pip
    "$pip" install -q "$(grep '^pip==' .ci/packaging/tools.txt)" >&2
  }
  folder=build/release-tools/$("$1" -c "import sys; print(sys.implementation.cache_tag + sys.abiflags)")
  [ "$(cat "$folder/installed" 2>/dev/null)" = "$(cat .ci/packaging/tools.txt)" ] || {
    rm -rf "$folder"
    "$1" -m venv --without-pip "$folder"
    "$pip" --python "$folder/bin/python" install -q -r .ci/packaging/tools.txt >&2
    cp .ci/packaging/tools.txt "$folder/installed"
  }
  echo "$folder"
}
