"""Runs many rollouts at once: each row of a batch replays the commands of a log with its own parameters."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from mvsim_gym.identify.log import Array, LogError, Segment
from mvsim_gym.identify.parameters import PARAMETERS
from mvsim_gym.identify.robot import NAME, Robot
from mvsim_gym.vector_env import VectorEnv

_ACTIONS = {
    "twist_pid": "twist",
    "twist_ideal": "twist",
    "twist_wheels": "twist",
    "twist_front_steer_pid": "twist",
    "front_steer_pid": "speed_steer",
}
SUBSTEPS = 2
"""Physics steps of a control period"""
_MARGIN = 1.25  # factor on the largest command, as a margin for the values of a fit
_SIZES = (1, 4, 8, 16, 32, 64, 128, 256)  # rows of batches that are kept


@dataclass(frozen=True)
class Track:
    """The inputs of one rollout: commands over time, and the initial motion."""

    segment: Segment
    start: float
    """start of the rollout, s of the log; earlier than the segment by the warm-up"""
    end: float
    time: Array
    """(n,) times of the commands, s"""
    command: Array
    """(n, 2) commands in the order of the controller"""
    twist: tuple[float, float]
    """vx, omega at the start"""


@dataclass(frozen=True)
class Simulated:
    """One rollout, sampled at every control period."""

    time: Array
    """(n,) s of the log"""
    pose: Array
    """(n, 3) x, y, unwrapped yaw"""
    twist: Array
    """(n, 3) twist in the body frame"""
    spin: Array
    """(n, wheels) spin, rad/s"""
    torque: Array
    """(n, wheels) motor torque, N m"""
    acceleration: Array
    """(n, 2) acceleration in the body frame"""
    finite: bool
    """Whether all values stayed finite"""


class Driver:
    """Rolls out tracks with given parameters.

    Args:
        robot: the robot to simulate.
        tracks: inputs of the rollouts; all begin together and end with the longest.
        substeps: physics steps of a control period.
        quantities: quantities to read in addition to poses, twists and spins; the others are zero.
        threads: threads of the batch; None: all processors.

    Raises:
        LogError: no log can command the robot's controller.
    """

    def __init__(
        self,
        robot: Robot,
        tracks: Sequence[Track],
        substeps: int = SUBSTEPS,
        threads: int | None = None,
        quantities: Sequence[str] = ("wheel_torque", "acceleration"),
    ) -> None:
        self.robot = robot
        self.tracks = list(tracks)
        self._quantities = set(quantities)
        self._threads = threads or os.cpu_count() or 1
        self._period = substeps * robot.step
        if robot.controller not in _ACTIONS:
            raise LogError(
                f"{robot.path}: found the controller '{robot.controller}', expected one of {', '.join(_ACTIONS)}"
            )
        self._limits = np.maximum(
            _MARGIN * np.max([np.abs(t.command).max(axis=0) for t in self.tracks], axis=0), 0.1
        )
        self._batches: dict[int, VectorEnv] = {}
        self._env = os.path.join(os.path.dirname(robot.world_path), f"identify{substeps}.env.xml")
        with open(self._env, "w", encoding="utf-8") as file:
            file.write(self._env_text())
        self._steps = 1 + int(np.ceil(max(t.end - t.start for t in self.tracks) / self._period))

    def close(self) -> None:
        for envs in self._batches.values():
            envs.close()
        self._batches.clear()

    def _env_text(self) -> str:
        first, second = self._limits
        action = _ACTIONS[self.robot.controller]
        if action == "twist":
            limits = f'vx="{-first!r} {first!r}" omega="{-second!r} {second!r}"'
        else:
            limits = f'vx="{-first!r} {first!r}"'
        limits = limits.replace("np.float64(", "").replace(")", "")
        return (
            f'<mvsim_env world="{os.path.basename(self.robot.world_path)}" control_period="{self._period!r}">'
            f'<agent vehicle="{NAME}"><action class="{action}" {limits}/><observe class="velocity"/></agent>'
            '<reset><spawn pose="0 0 0"/></reset><reward class="time" weight="0"/></mvsim_env>'
        )

    @cached_property
    def _scale(self) -> Array:
        """Returns the physical command of an action of 1."""
        if _ACTIONS[self.robot.controller] == "twist":
            return self._limits
        steer = self.robot.world.vehicles[NAME].max_steer
        assert steer is not None
        return np.array([self._limits[0], steer])

    def _batch(self, rows: int) -> VectorEnv:
        size = next((s for s in _SIZES if s >= rows), _SIZES[-1])
        if size not in self._batches:
            self._batches[size] = VectorEnv(
                env=self._env,
                num_envs=size,
                num_threads=min(self._threads, max(1, size // 4)),
                autoreset_mode=AutoresetMode.DISABLED,
                roots=self.robot.all_roots,
            )
            self._batches[size].reset(seed=0)
        return self._batches[size]

    def run(self, values: Sequence[Mapping[str, float]]) -> list[list[Simulated]]:
        """Returns the rollouts of all tracks for each set of values. Parameters not named have their nominal values."""
        jobs = [(i, k) for i in range(len(values)) for k in range(len(self.tracks))]
        out: list[list[Simulated]] = [[] for _ in values]
        for at in range(0, len(jobs), _SIZES[-1]):
            part = jobs[at : at + _SIZES[-1]]
            for (i, _), found in zip(part, self._roll_out(part, values), strict=True):
                out[i].append(found)
        return out

    def _roll_out(
        self, jobs: Sequence[tuple[int, int]], values: Sequence[Mapping[str, float]]
    ) -> list[Simulated]:
        envs = self._batch(len(jobs))
        rows = np.arange(envs.num_envs) % len(jobs)  # Surplus rows repeat the jobs.
        chosen = [jobs[int(r)] for r in rows]
        self._set_parameters(envs, [values[i] for i, _ in chosen])
        envs.reset(seed=0)
        tracks = [self.tracks[k] for _, k in chosen]
        envs.write(f"vehicle:{NAME}/twist", [[t.twist[0], 0.0, t.twist[1]] for t in tracks])
        steps = 1 + int(np.ceil(max(t.end - t.start for t in tracks) / self._period))
        actions = np.stack(
            [self._actions(values[i], self.tracks[k], steps) for i, k in chosen], axis=1
        ).astype(np.float32)
        n, wheels = envs.num_envs, len(self.robot.wheels)
        pose, twist = np.empty((steps + 1, n, 3)), np.empty((steps + 1, n, 3))
        spin, torque = np.empty((steps + 1, n, wheels)), np.zeros((steps + 1, n, wheels))
        acceleration = np.zeros((steps + 1, n, 2))
        finite = np.ones(n, bool)
        more = {"wheel_torque": torque, "acceleration": acceleration}
        record = [
            (array, f"vehicle:{NAME}/{name}")
            for name, array in {"pose": pose, "twist": twist, "wheel_spin": spin, **more}.items()
            if name not in more or name in self._quantities
        ]
        for array, name in record:
            array[0] = envs.read(name).reshape(array[0].shape)
        for step in range(steps):
            _, _, _, truncated, _ = envs.step(actions[step])
            for array, name in record:
                array[step + 1] = envs.read(name).reshape(array[0].shape)
            if truncated.any():  # diverged
                finite &= ~truncated
                for array, _ in record:
                    array[step + 1, ~finite] = array[step, ~finite]
                envs.reset(options={"reset_mask": truncated})
        pose[:, :, 2] = np.unwrap(pose[:, :, 2], axis=0)
        found = []
        for r in range(len(jobs)):
            track = tracks[r]
            time: Any = track.start + self._period * np.arange(steps + 1)
            own = (pose, twist, spin, torque, acceleration)
            good = finite[r] and all(np.isfinite(a[:, r]).all() for a in own)
            clean = [np.nan_to_num(a[:, r]) for a in own]
            found.append(Simulated(time, clean[0], clean[1], clean[2], clean[3], clean[4], bool(good)))
        return found

    def _set_parameters(self, envs: VectorEnv, values: Sequence[Mapping[str, float]]) -> None:
        envs.reset_parameters()
        names = dict.fromkeys(name for own in values for name in own)
        # Mass comes first, because inertia depends on it.
        for name in sorted(names, key=list(PARAMETERS).index):
            row = PARAMETERS[name]
            nominal = self.robot.nominal(row)
            if row.target != "world" or nominal is None:
                continue
            held = np.array([own.get(name, nominal) for own in values])
            if name == "inertia" and not any("inertia" in own for own in values):
                continue
            for path, array in self.robot.values_at(row, held).items():
                envs.set_parameter(path, array)

    def _actions(self, values: Mapping[str, float], track: Track, steps: int) -> Array:
        """Returns actions (steps, 2) in [-1, 1]. They are means of the delayed command over each control period, so
        that rollouts change smoothly with the delay."""
        delay = values.get("delay", 0.0)
        edges: Any = track.start - delay + self._period * np.arange(steps + 1)
        command = _means(track.time, track.command, edges)
        if self.robot.steers:
            gain = values.get("steer_gain", 1.0)
            command = np.column_stack([command[:, 0], gain * command[:, 1] + values.get("steer_offset", 0.0)])
        return np.clip(command / self._scale, -1, 1)


def _means(time: Array, values: Array, edges: Array) -> Array:
    """Returns the means between edges of a signal that holds each value until the next one."""
    widths = np.diff(time)
    sums = np.vstack([np.zeros(values.shape[1]), np.cumsum(values[:-1] * widths[:, None], axis=0)])
    index = np.clip(np.searchsorted(time, edges, side="right") - 1, 0, len(time) - 1)
    at: Any = sums[index] + values[index] * (edges - time[index])[:, None]
    means: Array = np.diff(at, axis=0) / np.diff(edges)[:, None]
    return means
