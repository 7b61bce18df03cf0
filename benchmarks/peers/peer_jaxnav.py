"""JaxMARL's JaxNav: eight worlds of sixteen kinematic robots in JAX on the CPU, 360 beams that are sampled in the
grid."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
from jaxmarl.environments.jaxnav.jaxnav_env import JaxNav, State

import scene
from measure import report, runs_in_one_process

WORLDS = 8
SAMPLES = round(scene.MAX_RANGE / scene.CELL)  # of a beam


def environment() -> JaxNav:
    """Cells of 5 cm from the corner of the field on, rows from the lowest y up."""
    rows = [" ".join(map(str, row)) for row in reversed(scene.grid())]
    half = 0.0685  # the robot of task A
    corners = jnp.array([[-half, -half], [-half, half], [half, half], [half, -half]])
    return JaxNav(
        num_agents=scene.AGENTS,
        rad=scene.ROBOT_RADIUS,
        map_id="Grid-Rand-Poly-Single",
        map_params={"map_data": rows, "cell_size": scene.CELL, "agent_coords": corners},
        lidar_num_beams=scene.RAYS,
        lidar_max_range=scene.MAX_RANGE,
        lidar_range_resolution=scene.CELL,
        min_v=-scene.MAX_SPEED,
        max_v=scene.MAX_SPEED,
        max_v_acc=10.0,
        max_w=scene.MAX_TURN,
        max_w_acc=100.0,
        dt=scene.CONTROL_PERIOD,
        max_steps=scene.EPISODE,
    )


def begin_of(env: JaxNav, starts: list[scene.Pose]) -> State:
    """One world, its robots at `starts` with goals out of reach. (JaxNav draws starts only in cells of one metre.)"""
    poses = jnp.array(starts)
    no, still = jnp.zeros(scene.AGENTS, bool), jnp.zeros((scene.AGENTS, 2))
    return State(
        pos=poses[:, :2] + 0.5 * scene.FIELD,
        theta=poses[:, 2],
        vel=still,
        done=no,
        term=no,
        goal_reached=no,
        move_term=no,
        step=jnp.array(0),
        ep_done=jnp.array(False),
        goal=jnp.full((scene.AGENTS, 2), 2 * scene.FIELD),
        map_data=env.map_obj.sample_map(None),
        rew_lambda=jnp.array(0.5),
    )


def main() -> None:
    env = environment()
    starts = scene.starts()
    begin = begin_of(env, starts)
    seen = env.get_obs(begin)
    ranges = [env.unnormalise_lidar(seen[agent][: scene.RAYS]).tolist() for agent in env.agents]
    scene.check_scans(starts, ranges, scene.walls() + scene.border(), -math.pi)
    highest = jnp.array([scene.MAX_SPEED, scene.MAX_TURN])
    worlds = jax.tree.map(lambda value: jnp.stack([value] * WORLDS), begin)

    @jax.jit
    @jax.vmap
    def step(key, state):
        key, own = jax.random.split(key)
        actions = highest * jax.random.uniform(own, (scene.AGENTS, 2), minval=-1, maxval=1)
        observations, state, rewards, _, _ = env.step_env(
            key, state, dict(zip(env.agents, actions, strict=True))
        )
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
    moved = float(jnp.abs(states.pos - worlds.pos).max())
    assert 1e-3 < moved < 1, moved
    runs = runs_in_one_process(advance)
    report(
        "agents_16_jaxnav",
        "jaxmarl",
        runs,
        f"8 worlds of 16 kinematic robots, 360 beams of {SAMPLES} samples each that find the 400x400 grid and the"
        " others, XLA on the CPU",
        "tire physics (kinematic), substeps (one of 100 ms), exact ranges (multiples of 5 cm), robots that go on"
        " after a collision",
        unit="agent steps/s",
    )


if __name__ == "__main__":
    main()
