"""A control period of a robot on one core, the jitter of its loop, and the import of `mvsim_gym.deploy`."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from figure import Row, Settings, figure, in_fresh_process

IMPORT = """
import numpy, time
began = time.perf_counter()
from mvsim_gym.deploy import Pipeline, load_policy
print((time.perf_counter() - began) * 1e3)
"""
PERIOD = """
import json, os, sys, time
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
import numpy as np
from mvsim_gym.deploy import Pipeline, load_policy

policy = load_policy(FOLDER)
pipeline = Pipeline(policy.env, **policy.keywords)
pipeline.begin()
pipeline.goal(2.0, 1.0)
pipeline.pose(0.0, 0.0, 0.1, 0.0)
pipeline.velocity(0.2, 0.0, 0.0)
for name, sensor in pipeline.sensors.items():
    if sensor.angles is not None:
        pipeline.scan(name, np.full(360, 3.0), -np.pi, 2 * np.pi / 360, 0.0)
    else:
        (shape,) = [spec.shape for spec in pipeline.observation_specs if len(spec.shape) == 2]
        pipeline.depth(name, np.full(shape, 2.0, np.float32), 0.0)


def period():
    pipeline.command(policy(pipeline.observe(0.0)))


for _ in range(50):
    period()
took = []
for _ in range(COUNT):
    began = time.perf_counter()
    period()
    took.append(time.perf_counter() - began)
print(json.dumps([1e6 * float(np.median(took)), 1e6 * float(np.quantile(took, 0.99))]))
"""

JITTER = """
import json, time
import numpy as np
from mvsim_gym.deploy import Pipeline, loop

pipeline = Pipeline("mvsim/Race-v0")
(lidar,) = pipeline.sensors
sent = []


def read(driver, now):
    driver.pipeline.scan(lidar, np.full(360, 5.0), -np.pi, 2 * np.pi / 360, now)
    driver.pipeline.velocity(1.0, 0.0, now)
    driver.pipeline.steer(0.0, 0.0, now)
    driver.set_pose(0.0, 0.0, 0.1, now)


def send(speed, turn):
    sent.append(time.perf_counter())


steps = loop(pipeline, lambda seen: np.zeros(2, np.float32), read, send, duration=SECONDS)
assert not any(step.stop for step in steps)
late = np.abs(np.diff(sent[:-1]) - pipeline.control_period)  # without the stop at the end
print(json.dumps([1e6 * float(np.quantile(late, 0.99)), 1e6 * float(late.max())]))
"""


def _exported(env: str, policy: str, folder: str) -> None:
    """Exports a policy of the size that Stable-Baselines3 makes by default. It has learnt nothing."""
    from stable_baselines3 import PPO

    from mvsim_gym.deploy.export import export_policy
    from mvsim_gym.sb3 import MVSimVecEnv

    options: dict[str, Any] = {"policy_kwargs": {"normalize_images": False}} if "Multi" in policy else {}
    model = PPO(policy, MVSimVecEnv(env, 2), n_steps=8, batch_size=16, device="cpu", seed=0, **options)
    model.save(Path(folder) / "model.zip")
    export_policy(Path(folder) / "model.zip", env, Path(folder) / "policy")


def _periods(name: str, env: str, policy: str, settings: Settings) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        _exported(env, policy, folder)
        count = 200 if settings.quick else 5000
        given = {"FOLDER": str(Path(folder) / "policy"), "COUNT": count}
        code = "\n".join(f"{key} = {json.dumps(value)}" for key, value in given.items()) + PERIOD
        runs = [in_fresh_process(code) for _ in range(settings.runs)]
    work = f"observe, infer by ONNX Runtime, command: {env}, PPO of Stable-Baselines3 ({policy}), one core"
    return [
        Row(f"deploy_us_{name}", "us", {"work": work, "of": f"the median of {count}"}, [r[0] for r in runs]),
        Row(
            f"deploy_us_{name}_p99",
            "us",
            {"work": work, "of": f"the 99th percentile of {count}"},
            [r[1] for r in runs],
        ),
    ]


@figure("deploy_us_nav")
def deploy_us_nav(settings: Settings) -> list[Row]:
    return _periods("nav", "mvsim/NavArena-v0", "MlpPolicy", settings)


@figure("deploy_us_depth")
def deploy_us_depth(settings: Settings) -> list[Row]:
    return _periods("depth", "mvsim/DepthNavigation-v0", "MultiInputPolicy", settings)


@figure("deploy_jitter_us")
def deploy_jitter_us(settings: Settings) -> list[Row]:
    code = f"SECONDS = {1 if settings.quick else 20}\n{JITTER}"
    runs = [in_fresh_process(code) for _ in range(1 if settings.quick else 2)]
    work = "`mvsim_gym.deploy.loop` at 25 Hz (Race): difference of the time between two commands from 40 ms"
    return [
        Row("deploy_jitter_us", "us", {"work": work, "of": "the 99th percentile"}, [r[0] for r in runs]),
        Row("deploy_jitter_us_max", "us", {"work": work, "of": "the largest"}, [r[1] for r in runs]),
    ]


@figure("deploy_import_ms")
def deploy_import_ms(settings: Settings) -> Row:
    config = {
        "work": "import Pipeline and load_policy of mvsim_gym.deploy after numpy, without onnxruntime, fresh process"
    }
    in_fresh_process(IMPORT)  # warms the file cache
    return Row(
        "deploy_import_ms", "ms", config, [in_fresh_process(IMPORT) for _ in range(2 * settings.runs + 1)]
    )
