"""Randomisation for the real world: every registered environment under `randomize="standard"`."""

from __future__ import annotations

import copy
import fnmatch
import re
import sys
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from conftest import ROOT, actions_for, equal, rollout_hash, short
from gymnasium.utils.env_checker import check_env

import mvsim_gym
from mvsim_gym.errors import WorldFileError

sys.path.append(str(ROOT / "examples"))

NAV = "mvsim/NavArena-v0"


def standard(env_id: str, steps: int = 20) -> dict[str, Any]:
    return {**short(env_id, steps), "randomize": "standard"}


def advance(env: Any, action: np.ndarray) -> tuple[Any, float]:
    """Observation and reward of a step, or of the episode after it."""
    observation, reward, terminated, truncated, _ = env.step(action)
    return (env.reset()[0] if terminated or truncated else observation), reward


def test_checker_of_gymnasium(env_id: str) -> None:
    env = gym.make(env_id, randomize="standard")
    check_env(env.unwrapped, skip_render_check=True)
    env.close()


def test_reseeding_repeats(env_id: str) -> None:
    """The same seed gives the same bytes, in the same env and in another; other seeds give others."""
    assert rollout_hash(env_id, 60, randomize="standard") == rollout_hash(env_id, 60, randomize="standard")
    assert rollout_hash(env_id, 60, randomize="standard") != rollout_hash(env_id, 60)
    assert rollout_hash(env_id, 60, randomize="none") == rollout_hash(env_id, 60)


def test_a_vector_is_its_single_envs(env_id: str) -> None:
    envs = gym.make_vec(env_id, num_envs=3, num_threads=2, **standard(env_id))
    singles = [gym.make(env_id, **standard(env_id)) for _ in range(3)]
    observation, _ = envs.reset(seed=[5, 6, 7])
    for i, env in enumerate(singles):
        equal(env.reset(seed=5 + i)[0], {key: rows[i] for key, rows in observation.items()})
    for actions in actions_for(1, 15, 3, envs.action_space.shape[-1]):
        observation, reward, terminated, truncated, _ = envs.step(actions)
        assert not truncated.any()
        for i, env in enumerate(singles):
            own, own_reward, own_end, _, _ = env.step(actions[i])
            equal(own, {key: rows[i] for key, rows in observation.items()})
            assert own_reward == reward[i] and own_end == terminated[i]
        if terminated.any():
            break
    for env in (envs, *singles):
        env.close()


def test_a_copy_continues(env_id: str) -> None:
    """Actions and readings that are on their way are part of a state."""
    env = gym.make(env_id, **standard(env_id, 40)).unwrapped
    env.reset(seed=4)
    actions = actions_for(2, 30, 1, env.action_space.shape[0])[:, 0]
    for action in actions[:7]:
        advance(env, action)
    state, other = env.snapshot(), copy.deepcopy(env)
    paths: list[list[tuple[Any, float]]] = []
    for one in (env, other):
        paths.append([advance(one, action) for action in actions[7:]])
    env.restore(state)
    paths.append([advance(env, action) for action in actions[7:]])
    for seen in paths[1:]:
        for (observation, reward), (expected, expected_reward) in zip(seen, paths[0], strict=True):
            equal(observation, expected)
            assert reward == expected_reward
    env.close()
    other.close()


def test_draws_are_read_and_held_by_name() -> None:
    envs = gym.make_vec(NAV, num_envs=64, randomize="standard")
    envs.reset(seed=0)
    delays = envs.read("vehicle:robot/action/delay")
    assert delays.shape == (64,) and len(set(delays)) == 64
    assert 0 <= delays.min() < 0.05 and 0.35 < delays.max() < 0.4  # of two periods of 0.2 s
    envs.set_parameter("vehicle:robot/action/delay", 0.4)
    envs.reset(seed=1)
    assert (envs.read("vehicle:robot/action/delay") == 0.4).all()
    envs.close()


DRIVES = {
    "differential": ("twist_pid", '<kinematics wheel_separation_multiplier="1.2"/>'),
    "ackermann": ("twist_front_steer_pid", '<servo rate="200" time_constant="0.1"/>'),
}
DRIVE_ENV = """<mvsim_env world="a.world.xml" control_period="0.1" time_limit="10">
  <agent vehicle="robot"><action class="twist" vx="0 1" omega="-1 1"/><observe class="velocity"/></agent>
  <reward class="time"/><randomize level="%s"/></mvsim_env>"""


@pytest.mark.parametrize(("level", "column"), [("standard", 0), ("strong", 1)])
@pytest.mark.parametrize("dynamics", DRIVES)
def test_levels_draw_the_drives_that_files_state(
    tmp_path: Path, dynamics: str, level: str, column: int
) -> None:
    controller, tag = DRIVES[dynamics]
    (tmp_path / "a.world.xml").write_text(
        f'<mvsim_world><vehicle name="robot"><dynamics class="{dynamics}"><chassis mass="5" inertia="0.2"/>'
        f'<controller class="{controller}"/></dynamics>'
        '<limits><linear max_velocity="2" max_acceleration="3"/></limits>'
        '<motor stall_torque="1" no_load_speed="500" gear_ratio="20"/>'
        f"{tag}<init_pose>0 0 0</init_pose></vehicle></mvsim_world>"
    )
    (tmp_path / "a.env.xml").write_text(DRIVE_ENV % level)
    envs = mvsim_gym.VectorEnv(tmp_path / "a.env.xml", num_envs=400)
    envs.reset(seed=0)
    nominal = {p.path: p.nominal for p in mvsim_gym.parameters.parameters_of(tmp_path / "a.env.xml")}
    drawn = set()
    for path, unit, ranges in documented_ranges():
        for name in fnmatch.filter(nominal, f"vehicle:robot/{path}"):
            if unit != "times" or path.split("/")[0] not in (
                "chassis",
                "motor",
                "servo",
                "limits",
                "kinematics",
            ):
                continue
            low, high = (nominal[name] * factor for factor in ranges[column])
            values = envs.read(name)
            width = high - low
            assert values.min() == pytest.approx(low, abs=0.02 * width), name
            assert values.max() == pytest.approx(high, abs=0.02 * width), name
            drawn.add(name.removeprefix("vehicle:robot/"))
    own = ["kinematics/wheel_separation_multiplier"]
    if dynamics == "ackermann":
        own = ["servo/rate", "servo/time_constant"]
    assert drawn >= {"chassis/inertia", "motor/battery_voltage", "limits/linear/max_acceleration", *own}
    for actions in actions_for(3, 20, 400, 2):
        envs.step(actions)
    envs.close()


def test_what_is_named_beside_a_level_wins() -> None:
    env = gym.make(NAV, randomize={"level": "strong", "vehicle:robot/chassis/mass": {"value": 1.5}})
    env.reset(seed=0)
    assert env.unwrapped.read("vehicle:robot/chassis/mass") == 1.5
    assert env.unwrapped.read("vehicle:robot/wheels/track") != 1
    assert env.spec is not None and env.spec.kwargs["randomize"]["level"] == "strong"
    env.close()


def test_bad_levels_and_scales_are_named() -> None:
    with pytest.raises(
        WorldFileError, match=r"keyword randomize: found 'hard', expected none, standard or strong"
    ):
        gym.make(NAV, randomize="hard")
    with pytest.raises(WorldFileError, match=r"randomize.level: found a number, expected none"):
        gym.make(NAV, randomize={"level": 2})
    with pytest.raises(WorldFileError, match=r"action/delay is 0, which no scale changes, expected 'value'"):
        gym.make(NAV, randomize={"vehicle:robot/action/delay": 0.4})
    env = gym.make(NAV, randomize={"vehicle:robot/sensor:lidar/delay": {"value": 10}}, control_period=0.02)
    with pytest.raises(ValueError, match=r"sensor 'lidar', delay: found 10.* s, expected at most 64"):
        env.reset(seed=0)
    env.close()


def test_a_team_is_randomised(team_id: str) -> None:
    envs = gym.make_vec(team_id, num_envs=8, randomize="standard")
    envs.reset(seed=0)
    masses = np.asarray(envs.read("vehicle:*/chassis/mass")).ravel()
    assert len(set(masses)) == masses.size > 1
    for actions in actions_for(3, 30, 8, envs.action_space.shape[-1]):
        _, reward, *_ = envs.step(actions)
        assert np.isfinite(reward).all()
    envs.close()


def documented_ranges() -> list[tuple[str, str, list[tuple[float, float]]]]:
    """Path, unit, and the ranges of standard and strong, as docs/env-randomisation.md has them."""
    text = (ROOT / "docs" / "env-randomisation.md").read_text().split("### `<randomize level>`")[1]
    rows = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) != 5 or not cells[0].startswith("`") or "push" in cells[0]:
            continue
        ranges = []
        for cell in cells[2:4]:
            numbers = [float(number) for number in cell.split(" to ")]
            ranges.append((numbers[0], numbers[-1]))
        rows += [(path, cells[1], ranges) for path in re.findall(r"`([^`]+)`", cells[0])]
    return rows


@pytest.mark.parametrize(("level", "column"), [("standard", 0), ("strong", 1)])
@pytest.mark.parametrize(("env_id", "vehicle"), [(NAV, "robot"), ("mvsim/Race-v0", "car1")])
def test_levels_draw_what_the_page_says(env_id: str, vehicle: str, level: str, column: int) -> None:
    """The least and the greatest of many draws are near to the ends of the documented range."""
    nominal = {p.path: p.nominal for p in mvsim_gym.parameters.parameters_of(env_id)}
    envs = mvsim_gym.VectorEnv(env_id, num_envs=400, randomize=level)
    envs.reset(seed=0)
    period, found = envs.control_period, set()
    for path, unit, ranges in documented_ranges():
        low, high = ranges[column]
        pattern = (
            f"vehicle:{vehicle}/*{path}"
            if "/" not in path or "mount" in path
            else f"vehicle:{vehicle}/{path}"
        )
        if unit.startswith("control"):
            low, high = low * period, high * period
        for name in nominal:
            in_sensor = "sensor:" in name
            if not fnmatch.fnmatchcase(name, pattern) or in_sensor != ("/" not in path or "mount" in path):
                continue
            drawn = envs.read(name)
            factor = nominal[name] if unit == "times" else 1
            if unit.startswith("lengths"):  # of a chassis whose length stands in no parameter
                assert drawn.min() < 0 < drawn.max() and drawn.min() == pytest.approx(-drawn.max(), rel=0.05)
                continue
            if drawn.max() == drawn.min() == nominal[name]:
                # only for actions that steer, and files that state an inertia
                assert "steer" in path or nominal[name] == -1, name
                continue
            width = abs(factor) * (high - low)
            assert drawn.min() == pytest.approx(factor * low, abs=0.02 * width + 1e-9), name
            assert drawn.max() == pytest.approx(factor * high, abs=0.02 * width + 1e-9), name
            assert (drawn >= factor * low - 1e-9).all() and (drawn <= factor * high + 1e-9).all(), name
            found.add(path)
    assert found >= {
        "chassis/mass",
        "wheels/track",
        "action/delay",
        "action/noise",
        "delay",
        "dropout",
        "mount/yaw",
    }
    assert ("steering/offset" in found) == (env_id != NAV)
    envs.close()


def test_the_world_has_the_parameters_too() -> None:
    env = mvsim_gym.parameters.parameters_of(NAV)
    paths = {p.path for p in env}
    assert {"vehicle:robot/push/longest", "vehicle:robot/sensor:lidar/mount/yaw"} <= paths


def test_levels_are_harder_one_after_another() -> None:
    from transfer import cases_of, successes

    rates = successes(NAV, cases_of([]), 60)["go to goal"]
    assert rates[0] >= rates[1] - 0.05 and rates[1] >= rates[2] - 0.05 and rates[0] > rates[2]


CAMERA_WORLD = """<mvsim_world>
  <vehicle name="r"><init_pose>0 0 0</init_pose>
    <dynamics class="differential"><controller class="twist_ideal"/></dynamics>
    <sensor class="rgbd_camera" name="c"/></vehicle>
  <block name="b"><static>true</static><init_pose>3 0 0</init_pose>
    <shape><pt>0 -3</pt><pt>0 3</pt><pt>.2 3</pt><pt>.2 -3</pt></shape></block></mvsim_world>"""
CAMERA_ENV = """<mvsim_env world="w.world.xml" control_period="0.1">
  <agent><action class="twist" vx="0 1" omega="-1 1"/><observe class="depth" max="10"/></agent>
  <reward class="time"/>%s</mvsim_env>"""


def depths(folder: Path, **parameters: float) -> list[float]:
    """Returns the depth at the middle of an image of a wall 3 m ahead, by period, at 1 m/s; restored in between."""
    (folder / "w.world.xml").write_text(CAMERA_WORLD)
    (folder / "t.env.xml").write_text(CAMERA_ENV % "")
    drawn = {f"vehicle:r/sensor:c/{name}": {"value": value} for name, value in parameters.items()}
    env = gym.make("mvsim/Custom-v0", env=str(folder / "t.env.xml"), randomize=drawn).unwrapped
    forward = np.array([1, 0], np.float32)
    images = [env.reset(seed=1)[0]["depth"]]
    for _ in range(4):
        images.append(env.step(forward)[0]["depth"])
    state = env.snapshot()
    ahead = [env.step(forward)[0]["depth"] for _ in range(4)]
    env.restore(state)
    for image in ahead:
        again = env.step(forward)[0]["depth"]
        np.testing.assert_array_equal(again, image)
        images.append(again)
    env.close()
    return [float(image[image.shape[0] // 2, image.shape[1] // 2]) for image in images]


def test_images_are_late_drop_out_and_look_askew(tmp_path: Path) -> None:
    now = depths(tmp_path)
    close = 0.01  # of the noise of the camera's depth
    assert now == pytest.approx([3 - 0.1 * i for i in range(9)], abs=close)
    assert depths(tmp_path, delay=0.2) == pytest.approx([3, 3, *now[:7]], abs=close)
    assert depths(tmp_path, delay=0.05)[1:] == pytest.approx([value + 0.05 for value in now[1:]], abs=close)
    assert depths(tmp_path, **{"mount/x": 0.3}) == pytest.approx([value - 0.3 for value in now], abs=close)
    turned = np.array(now) / np.cos(np.radians(10))
    assert depths(tmp_path, **{"mount/yaw": 10}) == pytest.approx(list(turned), abs=close)
    dropped = depths(tmp_path, dropout=0.5)
    held = np.diff(dropped) == 0
    assert held.any() and not held.all()
    assert all(min(abs(value - other) for other in now) < 0.01 for value in dropped)


def test_a_file_names_its_level(tmp_path: Path) -> None:
    (tmp_path / "w.world.xml").write_text(CAMERA_WORLD)
    file = tmp_path / "t.env.xml"
    file.write_text(CAMERA_ENV % '<randomize level="strong"/>')
    for level, low, high in ((None, 0.94, 1.06), ("standard", 0.97, 1.03), ("none", 1, 1)):
        keywords = {} if level is None else {"randomize": level}
        envs = mvsim_gym.VectorEnv(file, num_envs=100, **keywords)
        envs.reset(seed=0)
        track = envs.read("vehicle:r/wheels/track")
        assert track.min() == pytest.approx(low, abs=0.003) and track.max() == pytest.approx(high, abs=0.003)
        envs.close()
    for bad, message in (
        ('<randomize level="hard"/>', "level: found 'hard', expected none, standard or strong"),
        ('<randomize level="none" of="x"/>', "found the unknown attribute 'of'"),
        ('<randomize level="none"/><randomize level="strong"/>', "found a second level"),
    ):
        file.write_text(CAMERA_ENV % bad)
        with pytest.raises(WorldFileError, match=rf"t\.env\.xml:3:\d+: .*{message}"):
            mvsim_gym.VectorEnv(file, num_envs=1)
