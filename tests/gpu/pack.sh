#!/bin/sh
# Gathers in build/gpu-pack what a machine with an NVIDIA GPU and without registries needs to try what needs one: the wheel
# for this Python, the sources and libraries to build one for another, OpenGL's loaders, Python packages, tests, run.sh.
# Called by `./dev gpu-pack [PYTHON]`, from the root; PYTHON is the version there, 3.12 unless said.
set -eu
version=${1:-3.12}
pack=build/gpu-pack
limit=60 # MB of all of it
rm -rf "$pack"
mkdir -p "$pack/debs" "$pack/gl" "$pack/wheels"

# The Debian packages of the libraries that some files load, but for the C and C++ libraries, which every Linux has.
packages_of() {
  ldd "$@" | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p' | sort -u | while read -r library; do
    dpkg-query -S "$(readlink -f "$library")" "$library" "/usr$library" 2>/dev/null | head -n 1
  done | cut -d : -f 1 | sort -u | grep -v -x -e libc6 -e libstdc++6 -e libgcc-s1
}

# Debian packages into a folder.
download() {
  folder=$1
  shift
  (cd "$folder" && apt-get download -qq "$@")
}

module=$(find build/dev -maxdepth 1 -name '_core*.so')
assimp=$(ldconfig -p | sed -n 's/.*libassimp\.so\.5 .* => //p' | head -n 1)
embree=$(ldconfig -p | sed -n 's/.*libembree[34]\.so\.[34] .* => //p' | head -n 1)
own=$(dpkg-query -S "$(readlink -f "$assimp")" "$(readlink -f "$embree")" | cut -d : -f 1)
# shellcheck disable=SC2046,SC2086 # words, not one word
download "$pack/debs" $own $(packages_of "$module" "$assimp" "$embree") libbox2d-dev libpugixml-dev libhwy-dev librandom123-dev \
  libpng-dev libjpeg62-turbo-dev libyaml-dev zlib1g-dev libassimp-dev libembree-dev pkgconf-bin libpkgconf3
download "$pack/gl" libegl1 libglvnd0 libopengl0

MVSIM_CUDA=ON pip wheel -q --no-deps --no-build-isolation --config-settings=build-dir=build/dev -w "$pack/wheels" .
python -m pip download -q --no-deps --only-binary=:all: --python-version "$version" --implementation cp \
  --platform manylinux_2_28_x86_64 --platform manylinux_2_27_x86_64 --platform manylinux2014_x86_64 \
  -d "$pack/wheels" numpy "gymnasium==$(python -c 'import gymnasium; print(gymnasium.__version__)')" cloudpickle \
  farama-notifications typing-extensions pybind11 pytest pluggy iniconfig packaging pygments

git ls-files CMakeLists.txt LICENSE pyproject.toml README.md src python envs worlds | tar -cz -T - -f "$pack/source.tar.gz"
(cd "$pack" && mkdir -p tests/python tests/gpu benchmarks/figures)
for file in conftest test_gpu test_cameras gpu_consumer; do cp "tests/python/$file.py" "$pack/tests/python"; done
cp tests/gpu/frames.py "$pack/tests/gpu"
cp benchmarks/figure.py benchmarks/view_scene.py "$pack/benchmarks"
cp benchmarks/figures/views.py "$pack/benchmarks/figures"
cp tests/gpu/run.sh "$pack"
cat >"$pack/README" <<'END'
What mvsim_gym needs on a machine with an NVIDIA GPU and without registries. There, in this folder:

  ./run.sh RESULTS

RESULTS is a folder for logs. PYTHON names the interpreter (python3), which may have PyTorch.
END
size=$(du -sm "$pack" | cut -f 1)
echo "gpu-pack: $pack, $size MB"
[ "$size" -lt "$limit" ] || {
  echo "gpu-pack: expected less than $limit MB" >&2
  exit 1
}
