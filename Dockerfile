# mvsim_gym from its wheel, without compiler, display or GPU. `./dev release` first, then: docker build -t mvsim_gym .
FROM debian:trixie-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends python3 python3-venv libegl1 libegl-mesa0 libgl1-mesa-dri \
    && rm -rf /var/lib/apt/lists/*
RUN useradd --create-home --uid 1000 robot
COPY build/release/*.whl /wheels/
RUN python3 -m venv /opt/mvsim_gym \
    && /opt/mvsim_gym/bin/pip install --no-cache-dir --find-links /wheels mvsim_gym \
    && rm -rf /wheels
ENV PATH=/opt/mvsim_gym/bin:/usr/bin:/bin
USER robot
WORKDIR /home/robot
ENTRYPOINT ["mvsim-gym"]
