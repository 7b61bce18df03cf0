#!/bin/sh
# Tries on this machine what needs a GPU: device choice, pictures, arrays that stay there, frames per second. Part of the
# folder that `./dev gpu-pack` makes; needs nothing from the network. Where there is no GPU its halves are skipped, with
# the reason.
#
# usage: ./run.sh [RESULTS]; PYTHON: the interpreter, python3 unless said
set -eu
cd "$(dirname "$0")"
pack=$PWD
results=${1:-$pack/results}
python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$results" "$work/root" "$work/site"
exec 3>&1
say() { echo "gpu-pack: $*" >&3; }

unpack() {
  for deb in "$@"; do
    if command -v dpkg-deb >/dev/null; then
      dpkg-deb -x "$deb" "$work/root"
    else
      (cd "$work/root" && ar p "$deb" data.tar.xz | tar -xJ)
    fi
  done
}

# -- libraries, behind those of the machine where these are needed for its driver
unpack "$pack"/debs/*.deb
if ! ldconfig -p | grep -q 'libEGL\.so\.1 '; then
  say "this machine has no libEGL.so.1: taking OpenGL's loaders along"
  unpack "$pack"/gl/*.deb
fi
libraries=$work/root/usr/lib/x86_64-linux-gnu
export LD_LIBRARY_PATH="$libraries:$work/root/lib/x86_64-linux-gnu${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

# The description by which the loader finds NVIDIA's driver may stand where no loader looks.
if ! ls /usr/share/glvnd/egl_vendor.d/*nvidia*.json /etc/glvnd/egl_vendor.d/*nvidia*.json >/dev/null 2>&1; then
  description=$(find /usr/local /opt /usr/lib -path '*egl_vendor.d*nvidia*.json' 2>/dev/null | head -n 1)
  if [ -z "$description" ] && ldconfig -p | grep -q 'libEGL_nvidia\.so\.0'; then
    description=$work/10_nvidia.json
    echo '{"file_format_version": "1.0.0", "ICD": {"library_path": "libEGL_nvidia.so.0"}}' >"$description"
  fi
  if [ -n "$description" ]; then
    say "NVIDIA's driver is described by $description"
    export __EGL_VENDOR_LIBRARY_FILENAMES="$description"
  fi
fi

# -- Python packages: those that are missing
has() { "$python" -c "import $1" 2>/dev/null; }
export PYTHONPATH="$work/site${PYTHONPATH:+:$PYTHONPATH}"
install() {
  "$python" -m pip install -q --no-index --no-deps --no-compile --no-warn-script-location --target "$work/site" "$@"
}
for package in numpy gymnasium cloudpickle farama_notifications typing_extensions pytest pluggy iniconfig packaging pygments; do
  has "$package" || install "$pack/wheels/$package"-*.whl
done

# -- mvsim_gym: the wheel if it fits, else one is built
if install "$pack"/wheels/mvsim_gym-*.whl 2>"$work/wheel.log"; then
  say "mvsim_gym from its wheel"
else
  say "the wheel is of another Python: building the module"
  has pybind11 || install "$pack"/wheels/pybind11-*.whl
  mkdir -p "$work/source"
  tar -xzf "$pack/source.tar.gz" -C "$work/source"
  export PATH="$work/root/usr/bin:$PATH"
  export PKG_CONFIG_LIBDIR="$libraries/pkgconfig:$work/root/usr/share/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$work/root"
  [ -e "$work/root/usr/bin/pkg-config" ] || ln -s pkgconf "$work/root/usr/bin/pkg-config"
  export CPATH="$work/root/usr/include:$work/root/usr/include/x86_64-linux-gnu" LIBRARY_PATH="$libraries"
  {
    cmake -S "$work/source" -B "$work/build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$work/root/usr" \
      -DCMAKE_LIBRARY_PATH="$libraries" -DCMAKE_INCLUDE_PATH="$work/root/usr/include" \
      -DPython_EXECUTABLE="$("$python" -c 'import sys; print(sys.executable)')" \
      -Dpybind11_DIR="$("$python" -m pybind11 --cmakedir)" &&
      cmake --build "$work/build" -j "$(nproc)" --target _core
  } >"$results/build.log" 2>&1 || {
    tail -n 30 "$results/build.log" >&3
    exit 1
  }
  cp -r "$work/source/python/mvsim_gym" "$work/site"
  cp "$work"/build/_core*.so "$work/site/mvsim_gym"
  mkdir -p "$work/site/mvsim_gym/assets"
  cp -r "$work/source/envs" "$work/source/worlds" "$work/site/mvsim_gym/assets"
fi

# -- tests, then frames per second
status=0
printf '[pytest]\nmarkers =\n  unsanitized: not here\n' >"$work/pytest.ini"
(cd "$work" && "$python" -m pytest -c "$work/pytest.ini" --rootdir "$pack/tests/python" -p no:cacheprovider -rs -v \
  "$pack/tests/python/test_gpu.py") 2>&1 | tee "$results/tests.log" >&3
grep -q -E '^FAILED|^ERROR|no tests ran|rror: ' "$results/tests.log" && status=1
(cd "$work" && "$python" "$pack/tests/gpu/frames.py") 2>&1 | tee "$results/frames.log" >&3
grep -q '^{"machine"' "$results/frames.log" || status=1
[ "$status" = 0 ] && say "done: $results" || say "something failed: $results"
exit "$status"
