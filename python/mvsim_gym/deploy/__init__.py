"""Runs the policy of an environment on a robot: observation and action code for real readings, policies as files, and a
control loop that drives and stops.

    pipeline = Pipeline("mvsim/NavArena-v0")
    pipeline.goal(2, 1)
    pipeline.scan("lidar", ranges, angle_min, angle_increment, stamp)
    pipeline.pose(x, y, yaw, stamp)
    pipeline.velocity(vx, omega, stamp)
    command = pipeline.command(policy(pipeline.observe(now)))

It needs numpy, and for policies onnxruntime (the extra `deploy`): no torch, no Gymnasium, no renderer.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mvsim_gym.deploy.driver import loop
    from mvsim_gym.deploy.freshness import ReadingState, StaleReadingError
    from mvsim_gym.deploy.limits import Limits
    from mvsim_gym.deploy.pipeline import Pipeline
    from mvsim_gym.deploy.policy import PolicyFile, load_policy

__all__ = ["Limits", "Pipeline", "PolicyFile", "ReadingState", "StaleReadingError", "load_policy", "loop"]

_HOMES = {
    "Limits": "limits",
    "Pipeline": "pipeline",
    "PolicyFile": "policy",
    "ReadingState": "freshness",
    "StaleReadingError": "freshness",
    "load_policy": "policy",
    "loop": "driver",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'mvsim_gym.deploy' has no attribute '{name}'")
    value = getattr(importlib.import_module(f"mvsim_gym.deploy.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
