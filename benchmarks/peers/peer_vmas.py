"""VMAS: worlds of sixteen differential-drive discs in PyTorch, lidars of 360 rays among 204 boxes, two processes.

(Two threads of PyTorch in one process gain nothing here, and stand in each other's way where others use the machine.)
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import torch

import scene
from measure import report, runs_in_two_processes

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of gym, which is maintained no more
    from vmas.simulator.core import Agent, Box, Landmark, Sphere, World
    from vmas.simulator.dynamics.diff_drive import DiffDrive
    from vmas.simulator.environment import Environment
    from vmas.simulator.scenario import BaseScenario
    from vmas.simulator.sensors import Lidar

WORLDS = 8  # of each process


class Scenario(BaseScenario):
    """The scene of task A with sixteen robots; an observation is a scan, rewards are zero."""

    def make_world(self, batch_dim: int, device: torch.device, **_: Any) -> World:
        world = World(batch_dim, device, dt=scene.CONTROL_PERIOD, substeps=scene.SUBSTEPS, drag=0.0)
        self.walls = scene.walls() + scene.border()
        for i, wall in enumerate(self.walls):
            shape = Box(length=wall.length, width=scene.THICKNESS)
            world.add_landmark(Landmark(f"wall {i}", shape=shape, collide=True, movable=False))
        for i in range(scene.AGENTS):
            lidar = Lidar(
                world,
                n_rays=scene.RAYS,
                max_range=scene.MAX_RANGE,
                entity_filter=lambda _: True,
                render=False,
            )
            agent = Agent(
                f"robot {i}",
                shape=Sphere(scene.ROBOT_RADIUS),
                mass=1.0,
                collide=True,
                u_range=[scene.MAX_SPEED, scene.MAX_TURN],
                sensors=[lidar],
                dynamics=DiffDrive(world, integration="euler"),
            )
            world.add_agent(agent)
        return world

    def reset_world_at(self, env_index: int | None = None) -> None:
        for landmark, wall in zip(self.world.landmarks, self.walls, strict=True):
            self._place(landmark, (wall.x, wall.y, wall.yaw), env_index)
        for agent, start in zip(self.world.agents, scene.starts(), strict=True):
            self._place(agent, start, env_index)

    def _place(self, entity: Any, pose: scene.Pose, env_index: int | None) -> None:
        entity.set_pos(torch.tensor(pose[:2], device=self.world.device), env_index)
        entity.set_rot(torch.tensor(pose[2:], device=self.world.device), env_index)

    def observation(self, agent: Agent) -> torch.Tensor:
        return agent.sensors[0].measure()

    def reward(self, agent: Agent) -> torch.Tensor:
        return torch.zeros(self.world.batch_dim)


def make(worker: int) -> Callable[[], int]:
    """Worlds of its own in this process, and the function that steps all their robots."""
    torch.set_num_threads(1)
    torch.manual_seed(worker)
    env = Environment(Scenario(), num_envs=WORLDS, continuous_actions=True, seed=worker)
    starts = scene.starts()
    scans = [scan[0].tolist() for scan in env.reset()]
    scene.check_scans(starts, scans, scene.walls() + scene.border(), 0.0)
    highest = torch.tensor([scene.MAX_SPEED, scene.MAX_TURN])
    count = 0

    def advance() -> int:
        nonlocal count
        count += 1
        if count % scene.EPISODE == 0:
            env.reset()
        actions = [highest * (2 * torch.rand(WORLDS, 2) - 1) for _ in range(scene.AGENTS)]
        env.step(actions)
        if count == 2:
            moved = [
                float(torch.dist(agent.state.pos[0], torch.tensor(start[:2])))
                for agent, start in zip(env.agents, starts, strict=True)
            ]
            assert 1e-3 < max(moved) < 0.1, moved
        return WORLDS * scene.AGENTS

    return advance


if __name__ == "__main__":
    report(
        "agents_16_vmas",
        "vmas",
        runs_in_two_processes(make),
        "16 discs a world on differential drive, 10 substeps of 10 ms with soft contacts, lidars of 360 rays among"
        f" 204 boxes and the others, 2 processes of {WORLDS} worlds",
        "tire physics (a force for each control period), task logic (reward, goal, observation scaling); boxes in place"
        " of the 400x400 grid",
        unit="agent steps/s",
    )
