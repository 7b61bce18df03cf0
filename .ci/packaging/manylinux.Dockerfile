# The image of cibuildwheel: the libraries of Debian 12, and the Pythons of PyPA's manylinux_2_34.
# docker build -t mvsim-gym-manylinux -f .ci/packaging/manylinux.Dockerfile .ci/packaging
FROM quay.io/pypa/manylinux_2_34_x86_64 AS pythons
FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends g++ cmake ninja-build pkg-config git ca-certificates libbz2-1.0 libffi8 \
       liblzma5 libsqlite3-0 libssl3 libbox2d-dev libpugixml-dev libhwy-dev librandom123-dev libpng-dev libjpeg-dev libyaml-dev \
       libassimp-dev libembree-dev \
    && rm -rf /var/lib/apt/lists/*
COPY --from=pythons /opt /opt
COPY --from=pythons /usr/local/bin /usr/local/bin
