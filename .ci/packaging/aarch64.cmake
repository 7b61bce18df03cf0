# Compiles for aarch64 with Debian's cross compiler, against a root of Debian for that processor: AARCH64_ROOT in the
# environment. Used by .ci/packaging/arm64.sh.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_SYSROOT $ENV{AARCH64_ROOT})
# no byte may tell of the folder of the root
set(CMAKE_C_FLAGS_INIT "-ffile-prefix-map=$ENV{AARCH64_ROOT}=")
set(CMAKE_CXX_FLAGS_INIT "-ffile-prefix-map=$ENV{AARCH64_ROOT}=")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE BOTH)  # pybind11 is outside of the root
set(ENV{PKG_CONFIG_SYSROOT_DIR} $ENV{AARCH64_ROOT})
set(ENV{PKG_CONFIG_LIBDIR} $ENV{AARCH64_ROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:$ENV{AARCH64_ROOT}/usr/share/pkgconfig)
