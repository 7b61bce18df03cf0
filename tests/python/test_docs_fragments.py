"""Fragments of the documentation run. A fragment uses names of the text around it, such as `env` or `world`.

The tables below give each page its names, so that a call that the package no longer has fails here.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from conftest import ROOT
from pages import Code, blocks

import mvsim_gym

# Blocks of Python that no test can run, by page and a word of their text, and the reason.
NO_RUN = {
    ("deploy.md", "serial.Serial"): "needs a robot at a serial port",
    ("python-learners.md", "torch.from_dlpack"): "needs a GPU; ./dev gpu-pack runs it",
    (
        "robots-identify.md",
        "drive.mcap",
    ): "needs the log of a robot; test_identify.py fits one of the simulator",
    ("tools.md", "recover_environment"): "needs a data set; test_collect.py reads one with Minari",
    ("tools.md", "mvsim/MultiNav/baselines-v0"): "needs a data set; test_collect.py reads one with Minari",
    ("tools.md", "LeRobotDataset"): "needs lerobot; test_collect_lerobot.py checks the files by its rules",
    (
        "training.md",
        "PPO.load",
    ): "needs a model that took minutes to train; test_examples.py trains and loads one",
}

# A robot with a sensor of each kind, a block, and a sensor that stands in the world.
WORLD = """<mvsim_world version="1.0">
  <variable name="obstacles" value="${obstacles|1}"/>
  <include file="definitions/turtlebot3_burger.vehicle.xml" default_sensors="false" controller="twist_pid"
           KP="0.1" KI="4" max_torque="0.12"/>
  <georeference><latitude>36.8</latitude><longitude>-2.4</longitude></georeference>
  <vehicle name="r1" class="turtlebot3_burger"><init_pose>0 0 0</init_pose>
    <friction class="default"><mu>0.8</mu></friction>
    <sensor class="laser" name="laser1"/>
    <sensor class="imu" name="imu1"/>
    <sensor class="gnss" name="gps1"/>
    <sensor class="rgbd_camera" name="camera1"/>
    <sensor class="lidar3d" name="lidar1"/>
  </vehicle>
  <sensor class="laser" name="tower"><pose>2 2 0</pose></sensor>
  <block name="b1"><init_pose>1 0 0</init_pose><geometry type="box" lx="0.2" ly="0.2" lz="0.3"/></block>
</mvsim_world>"""


def envs_of(id: str, count: int) -> tuple[Any, Any]:
    """Vectorized environments that have begun, and an action for each."""
    envs = mvsim_gym.VectorEnv(id, num_envs=count)
    envs.reset(seed=1)
    return envs, envs.action_space.sample()


def of_arrays() -> dict[str, Any]:
    """Names of a rollout: arrays of 128 periods and 64 envs."""
    _, actions = envs_of("mvsim/NavArena-v0", 64)
    return {
        "actions": actions,
        "t": 3,
        "goals": np.empty((128, 64, 3), np.float32),
        "velocities": np.empty((128, 64, 2), np.float32),
    }


def of_world() -> dict[str, Any]:
    world = mvsim_gym.World("my.world.xml")
    world.step(1)
    return {"world": world, "places": np.array([(0.0, 0.0), (1.0, 1.0)]), "x": 0.0, "y": 0.0}


def of_run() -> dict[str, Any]:
    """A world, envs, and a function and a model that step them."""
    envs, actions = envs_of("mvsim/NavArena-v0", 2)

    class Model:
        def learn(self, steps: int) -> None:
            envs.step(actions)

    return {**of_world(), "envs": envs, "evaluate": lambda given: given.step(actions), "model": Model()}


def of_learner() -> dict[str, Any]:
    """PPO and SAC, which build their networks and buffers in full and do not learn."""
    pytest.importorskip("torch", reason="the extra sb3 is not installed")
    from stable_baselines3 import PPO

    import mvsim_gym.sb3

    return {
        "PPO": PPO,
        "MVSimVecEnv": lambda id, num_envs, **more: mvsim_gym.sb3.MVSimVecEnv(id, 2, **more),
        "env": mvsim_gym.Env("mvsim/NavArena-v0"),
    }


NAMES: dict[str, Callable[[], dict[str, Any]]] = {
    "python.md": of_arrays,
    "tools.md": of_world,
    "tools-recordings.md": of_run,
    "tools-view.md": of_run,
    "python-learners.md": of_learner,
    "training.md": of_learner,
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder of a reader: a world, an environment, a map and a floor plan of their own."""
    (tmp_path / "my.world.xml").write_text(WORLD)
    shutil.copy(ROOT / "worlds" / "nav_arena.world.xml", tmp_path / "other.world.xml")
    text = (ROOT / "envs" / "nav_arena.env.xml").read_text().replace("../worlds/nav_arena", "other")
    for name in ("my.env.xml", "my_task.env.xml"):
        (tmp_path / name).write_text(text.replace(' id="mvsim/NavArena-v0"', ""))
    for suffix in ("yaml", "pgm"):
        shutil.copy(ROOT / "worlds" / "maps" / f"office.{suffix}", tmp_path / f"office.{suffix}")
    shutil.copy(tmp_path / "office.yaml", tmp_path / "my_building.yaml")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fragments() -> list[Code]:
    return [block for block in blocks() if (block.language, block.mark) == ("python", "fragment")]


@pytest.mark.unsanitized
@pytest.mark.parametrize("block", fragments(), ids=lambda block: f"{block.page}:{block.text.split()[0]}")
def test_a_fragment_runs(block: Code, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if "view()" in block.text:
        pytest.importorskip("viser", reason="the extra view is not installed")
    if "plan.dxf" in block.text:
        drawing = pytest.importorskip("ezdxf", reason="the extra robots is not installed").new()
        drawing.modelspace().add_line((0, 0), (4000, 0), dxfattribs={"layer": "walls"})
        drawing.saveas("plan.dxf")
    names = NAMES.get(block.page, dict)()
    if "learn(" in block.text and "PPO" in names:
        from stable_baselines3.common.base_class import BaseAlgorithm

        for learner in BaseAlgorithm.__subclasses__():
            for kind in (learner, *learner.__subclasses__()):
                monkeypatch.setattr(kind, "learn", lambda self, steps, **more: self, raising=False)
    text = re.sub(r"batch_size=\d+", "batch_size=64", block.text)  # a part of the shorter rollout
    modules = {"gym": gymnasium, "gymnasium": gymnasium, "mvsim_gym": mvsim_gym, "np": np}
    before = set(gymnasium.registry)
    try:
        exec(text, {**modules, "tire": mvsim_gym.tire, **names})
    finally:
        for id in set(gymnasium.registry) - before:
            del gymnasium.registry[id]


# Elements of an environment stand in this one, whose world has a robot with a lidar and a block that can move.
ENV = """<mvsim_env world="one.world.xml" control_period="0.2" time_limit="20">
  <agent vehicle="robot"><action class="twist" vx="0 0.22" omega="-2 2"/>
    <observe class="goal" max_distance="9"/><observe class="scan" sensor="lidar" sectors="36"/></agent>
  <reset><spawn pose="0 -2 0"/><goal position="2 -2"/></reset>
  <reward class="time"/>
</mvsim_env>"""
ENV_WORLD = WORLD.replace('"r1"', '"robot"').replace('"laser1"', '"lidar"').replace('"b1"', '"cart1"')


def xml_fragments(*pages: str) -> list[Code]:
    return [b for b in blocks() if (b.language, b.mark) == ("xml", "fragment") and b.page.startswith(pages)]


@pytest.mark.parametrize("block", xml_fragments("env-"), ids=lambda block: block.page)
def test_elements_of_an_environment_load(block: Code, folder: Path) -> None:
    (folder / "one.world.xml").write_text(ENV_WORLD)
    (folder / "one.env.xml").write_text(ENV.replace("</mvsim_env>", f"{block.text}</mvsim_env>"))
    env = mvsim_gym.Env("one.env.xml")
    env.reset(seed=0)
    env.step(env.action_space.sample())
    env.close()


@pytest.mark.parametrize("block", xml_fragments("world-"), ids=lambda block: block.text.split()[0])
def test_elements_of_a_world_load(block: Code, folder: Path) -> None:
    within = block.text if "<publish>" in block.text else ""
    vehicles = "".join(
        f'<vehicle name="{name}"><dynamics class="differential"/><friction class="default"/>{within}'
        f"<init_pose>{x} 0 0</init_pose></vehicle>"
        for name, x in (("tractor", 2.8), ("trailer", 0))
    )
    text = vehicles + (block.text if not within else "")
    (folder / "one.world.xml").write_text(f"<mvsim_world>{text}</mvsim_world>")
    assert not mvsim_gym.World("one.world.xml").warnings


def test_every_block_that_no_test_runs_has_a_reason() -> None:
    found = [block for block in blocks() if block.mark == "no-run"]
    reasons = [
        [why for (page, word), why in NO_RUN.items() if page == b.page and word in b.text] for b in found
    ]
    assert [b.text for b, why in zip(found, reasons, strict=True) if len(why) != 1] == []
    assert len(found) == len(NO_RUN)
