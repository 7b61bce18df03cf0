"""CAMAR: eight worlds of sixteen differential-drive discs in JAX on the CPU, among walls made of discs. It has no
lidar: a robot sees where the nearest discs are."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
from camar import camar_v0
from camar.dynamics import DiffDriveDynamic
from camar.maps import random_grid

import scene
from measure import report, runs_in_one_process

WORLDS = 8
DISC = scene.THICKNESS / 2  # radius of a piece of a wall, m
SEEN = 24  # nearest discs in an observation


def discs() -> list[tuple[float, float]]:
    """Centres of discs side by side along each wall."""
    centres = []
    for wall in scene.walls() + scene.border():
        count = math.ceil(wall.length / scene.THICKNESS)
        for i in range(count):
            along = wall.length * ((i + 0.5) / count - 0.5)
            centres.append((wall.x + along * math.cos(wall.yaw), wall.y + along * math.sin(wall.yaw)))
    return centres


class Field(random_grid):
    """The walls and the starts of the scene; goals out of reach."""

    def __init__(self) -> None:
        super().__init__(
            num_rows=round(scene.FIELD),
            num_cols=round(scene.FIELD),
            num_agents=scene.AGENTS,
            obstacle_size=1.0,
        )
        self.landmarks = jnp.array(discs())
        self._num_landmarks = len(self.landmarks)
        self.landmark_rad, self.agent_rad, self.goal_rad = DISC, scene.ROBOT_RADIUS, 0.1
        self.starts = jnp.array([start[:2] for start in scene.starts()])
        self.goals = jnp.full((scene.AGENTS, 2), 2 * scene.FIELD)

    def reset(self, key: jax.Array) -> tuple:
        return key, self.landmarks, self.starts, self.goals, self.generate_sizes(key)


def main() -> None:
    env = camar_v0(
        map_generator=Field(),
        dynamic=DiffDriveDynamic(
            linear_speed_max=scene.MAX_SPEED,
            linear_speed_min=-scene.MAX_SPEED,
            angular_speed_max=scene.MAX_TURN,
            angular_speed_min=-scene.MAX_TURN,
            dt=scene.CONTROL_PERIOD / scene.SUBSTEPS,
        ),
        window=1.0,
        max_steps=scene.EPISODE,
        frameskip=scene.SUBSTEPS - 1,
        max_obs=SEEN,
    )
    first = jax.random.split(jax.random.key(0), WORLDS)
    _, worlds = jax.jit(jax.vmap(env.reset))(first)

    @jax.jit
    @jax.vmap
    def step(key, state):
        key, own, mine = jax.random.split(key, 3)
        actions = jax.random.uniform(own, (scene.AGENTS, 2), minval=-1, maxval=1)
        observations, state, rewards, _, _ = env.step(mine, state, actions)
        return key, state, observations, rewards

    keys, states, count = jax.random.split(jax.random.key(1), WORLDS), worlds, 0

    def advance() -> int:
        nonlocal keys, states, count
        count += 1
        if count % scene.EPISODE == 0:
            states = worlds
        keys, states, observations, _ = step(keys, states)
        jax.block_until_ready(observations)
        return WORLDS * scene.AGENTS

    for _ in range(3):
        advance()
    moved = float(jnp.abs(states.physical_state.agent_pos - worlds.physical_state.agent_pos).max())
    assert 1e-3 < moved < 0.1, moved
    report(
        "agents_16_camar",
        "camar",
        runs_in_one_process(advance),
        f"8 worlds of 16 discs on differential drive, 10 substeps of 10 ms with soft contacts among {len(discs())}"
        f" discs, the {SEEN} nearest discs as the observation, XLA on the CPU",
        "the lidar (observations are the nearest discs), tire physics (a velocity and a contact force); walls of"
        " discs in place of the 400x400 grid",
        unit="agent steps/s",
    )


if __name__ == "__main__":
    main()
