"""Episodes of environments with the readings of which their observations are made, for tests of `mvsim_gym.deploy`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from mvsim_gym import VectorEnv
from mvsim_gym.deploy import Pipeline
from mvsim_gym.tools.policy import agents_of

# what makes an observation of a sensor the sensor's own reading
RAW = {
    "scan": {"sectors": None, "max": None},
    "image": {"rows": None, "columns": None},
    "depth": {"rows": None, "columns": None, "max": None},
    "range_image": {"max": None},
}
FRAMES = {"history": None, "stride": None, "changes": None, "normalize": None}


class Moment(NamedTuple):
    """The readings at the end of a control period, the observation of them, and the action that followed."""

    readings: dict[str, Any]
    raw: dict[str, np.ndarray]
    observation: dict[str, np.ndarray]
    action: np.ndarray | None


def recorded(
    env_id: str, pipeline: Pipeline, seed: int, steps: int, agent: int = 0, **keywords: Any
) -> Iterator[Moment]:
    """An episode by random actions that turn slowly. A second environment with the same seed and actions shows the
    readings themselves. With `localization` among the keywords the poses are estimates, and the velocity is that of the
    wheels."""
    classes = {s.key: s.class_name for s in pipeline._core.sources}
    raw = {
        key: {**FRAMES, **RAW.get(kind, {})} for key, kind in classes.items() if kind in {*RAW, "imu", "gnss"}
    }
    agents = agents_of(env_id, {})
    options: dict[str, Any] = {"num_envs": agents, "autoreset_mode": "Disabled", **keywords}
    envs, twin = (
        VectorEnv(env_id, **options),
        VectorEnv(env_id, **options, **({"observe": raw} if raw else {})),
    )
    random = np.random.default_rng(seed)
    name = pipeline.vehicle.name
    seen, shown = envs.reset(seed=seed)[0], twin.reset(seed=seed)[0]
    action = np.zeros(envs.action_space.shape, np.float32)
    for step in range(steps + 1):
        readings = {
            what: envs.read(f"vehicle:{name}/{what}")[0] for what in ("attitude", "odometry", "wheel_steer")
        }
        twist = "odometry_twist" if "localization" in keywords else "twist"
        readings["pose"] = envs.read(f"agent:{name}/estimated_pose")[0]
        readings["twist"] = envs.read(f"vehicle:{name}/{twist}")[0]
        if pipeline.has_goal:
            readings["goal"] = envs.read(f"agent:{name}/goal")[0]
        pulled = random.uniform(-1.2, 1.2, action.shape)
        action = (0.7 * action + 0.3 * pulled).astype(np.float32)
        last = step == steps
        yield Moment(
            readings,
            {key: np.array(value[agent]) for key, value in shown.items()},
            {key: np.array(value[agent]) for key, value in seen.items()},
            None if last else action[agent].copy(),
        )
        if last:
            break
        seen, _, terminated, truncated, _ = envs.step(action)
        shown = twin.step(action)[0]
        if (terminated | truncated).any():
            break
    envs.close()
    twin.close()


def give(pipeline: Pipeline, moment: Moment, stamp: float, scan: Callable[..., None] | None = None) -> None:
    """Hands the readings of a moment to the pipeline."""
    r = moment.readings
    pipeline.pose(*r["pose"], stamp)
    vx, vy, omega = r["twist"]
    pipeline.odometry(*r["odometry"], vx, omega, stamp, vy=vy)
    z, pitch, roll = r["attitude"]
    pipeline.attitude(pitch, roll, stamp, z=z)
    if len(r["wheel_steer"]) == 4:
        pipeline.steer(*r["wheel_steer"][2:4], stamp)
    for source in pipeline._core.sources:
        raw, kind = moment.raw[source.key], source.class_name
        if source.needs == ["given"]:
            pipeline.value(source.key, moment.observation[source.key], stamp)
        elif kind == "scan":
            sensor = pipeline.sensors[source.sensor]
            ranges = np.where(raw >= sensor.high, np.inf, raw)
            step = (sensor.angles[-1] - sensor.angles[0]) / (len(sensor.angles) - 1)
            (scan or pipeline.scan)(source.sensor, ranges, sensor.angles[0], step, stamp)
        elif kind == "image":
            pipeline.image(source.sensor, raw, stamp)
        elif kind == "depth":
            pipeline.depth(source.sensor, raw, stamp)
        elif kind == "range_image":
            pipeline.ranges(source.sensor, raw, stamp)
        elif kind == "imu":
            orientation = raw[6:] if len(raw) > 6 else None
            pipeline.imu(source.sensor, raw[:3], raw[3:6], stamp, orientation=orientation)
        elif kind == "gnss":
            place = (51.0, 13.0, 100.0) if raw[3] else (np.nan, np.nan, np.nan)
            pipeline.gnss(source.sensor, *place, stamp, enu=tuple(map(float, raw[:3])))
