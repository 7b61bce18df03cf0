"""What the documentation shows works as it stands there."""

from __future__ import annotations

from pathlib import Path

import gymnasium as gym
import pytest

import mvsim_gym

DOCS = Path(__file__).parents[2] / "docs"


def first_xml(page: str) -> str:
    return (DOCS / page).read_text().split("```xml\n", 1)[1].split("```", 1)[0]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "my.world.xml").write_text(first_xml("world-files.md"))
    (tmp_path / "my_task.env.xml").write_text(first_xml("env-files.md"))
    return tmp_path


def test_the_world_of_the_page_on_worlds(files: Path) -> None:
    world = mvsim_gym.World(files / "my.world.xml")
    world.vehicles["r1"].set_twist(0.2, 0)
    world.step(1)
    assert world.vehicles["r1"].pose.y > 0.1 and not world.warnings


def test_the_environment_of_the_page_on_environments(files: Path) -> None:
    env = gym.make("mvsim/Custom-v0", env=str(files / "my_task.env.xml"))
    env.reset(seed=0)
    for _ in range(20):
        env.step(env.action_space.sample())
    env.close()
