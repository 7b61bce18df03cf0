"""Several agents: compiled and stepped by the core, refused by name from Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

import mvsim_gym

AGENT = """<agent vehicle="robot"><action class="twist" vx="0 0.22" omega="-2 2"/><observe class="velocity"/>{}</agent>
"""
ENV = """<mvsim_env world="nav_arena.world.xml" control_period="0.2" time_limit="10">
{}</mvsim_env>"""


def write(folder: Path, content: str) -> str:
    path = folder / "task.env.xml"
    path.write_text(ENV.format(content))
    return str(path)


def world(name: str) -> str:
    return str(Path(mvsim_gym.__file__).parents[2] / "worlds" / name)


@pytest.mark.parametrize("make", [gym.make, gym.make_vec])
def test_two_agents_are_refused_at_the_line_of_the_second(tmp_path: Path, make: Any) -> None:
    path = write(tmp_path, AGENT.format("") * 2)
    with pytest.raises(
        mvsim_gym.WorldFileError, match=r"task\.env\.xml:3:1: .*several agents: not available from Python yet"
    ):
        make("mvsim/Custom-v0", env=path)


def test_rewards_and_terminations_may_stand_inside_the_agent(tmp_path: Path) -> None:
    terms = '<reward class="time" weight="-3"/><terminate class="collision"/>'
    path = write(tmp_path, AGENT.format(terms))
    env = gym.make("mvsim/Custom-v0", env=path, world=world("nav_arena.world.xml"), reward={"time": -0.5})
    env.reset(seed=1)
    assert env.step(env.action_space.sample())[1] == -0.5
