"""Messages for wrong arguments: they name the argument and the remedy."""

from __future__ import annotations

import warnings
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import mvsim_gym
from mvsim_gym.parameters import parameters_of
from mvsim_gym.tools.cli import main

ARENA = "mvsim/NavArena-v0"


@pytest.mark.parametrize(
    ("keywords", "error", "message"),
    [
        ({"width": "640"}, ValueError, r"width: found '640', expected an integer from 1 to 8192 \(pixels\)"),
        ({"height": 2.5}, ValueError, "height: found 2.5, expected an integer"),
        (
            {"observe": False},
            ValueError,
            "keyword observe: leaves out every observation, expected at least one",
        ),
        (
            {"observe": {"scan": False, "goal": None, "velocity": False}},
            ValueError,
            "keyword observe: leaves out every observation",
        ),
        ({"reward": lambda obs: 1.0}, TypeError, "keyword reward: found a function.*keywords reward_terms"),
        (
            {"reward": {"progress": lambda obs: 1.0}},
            TypeError,
            r"keyword reward\.progress: found a function",
        ),
        ({"reward": 3}, ValueError, "keyword reward: found a number, expected a dict"),
        ({"reward": {"time": 1e308}}, ValueError, r"keyword reward\.time\.weight: .*expected >= -1e\+09"),
        ({"radius": "0.12 90"}, ValueError, "keyword radius: .*expected radii from"),
    ],
)
def test_keywords_of_an_environment(keywords: dict[str, object], error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        mvsim_gym.Env(ARENA, **keywords)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", ["3", 2.5, -1, True])
def test_seeds(seed: object) -> None:
    with pytest.raises(ValueError, match=r"seed: found .*expected an integer of at least 0"):
        mvsim_gym.Env(ARENA).reset(seed=seed)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"seed: found .*expected an integer of at least 0"):
        mvsim_gym.VectorEnv(ARENA, num_envs=2).reset(seed=seed)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"seed: found .*expected an integer of at least 0"):
        mvsim_gym.VectorEnv(ARENA, num_envs=2).reset(seed=[seed, 1])  # type: ignore[list-item]


def write_world(folder: Path, body: str) -> Path:
    path = folder / "w.world.xml"
    path.write_text(f"<mvsim_world>\n{body}\n</mvsim_world>")
    return path


def test_seeds_that_are_arrays() -> None:
    with pytest.raises(ValueError, match=r"seed: found array\(3\), expected an integer of at least 0"):
        mvsim_gym.VectorEnv(ARENA, num_envs=2).reset(seed=np.array(3))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"path": 5}, TypeError, "^path: found an int, expected a path"),
        ({"path": "w.world.xml\0"}, ValueError, "^path: found a text with"),
        ({"variables": 5}, TypeError, "^variables: found an int, expected a dict"),
        ({"variables": {"\udcff": 1}}, ValueError, "^variables: found a text with"),
        ({"variables": {"a": "b\udcff"}}, ValueError, r"^variables\['a'\]: found a text with"),
        ({"variables": {5: 1}}, TypeError, "^variables: found an int, expected a text"),
        ({"seed": True}, ValueError, "^seed: found True, expected an integer"),
        ({"seed": 3.0}, ValueError, r"^seed: found 3\.0, expected an integer"),
        ({"world_seed": "3"}, ValueError, "^world_seed: found '3', expected an integer"),
    ],
)
def test_arguments_of_a_world(
    tmp_path: Path, arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        mvsim_gym.World(**{"path": write_world(tmp_path, ""), **arguments})


def test_there_is_nothing_behind_which_to_look(tmp_path: Path) -> None:
    world = mvsim_gym.World(write_world(tmp_path, ""))
    with pytest.raises(
        ValueError, match="camera: found 'behind', expected 'above': this world has no vehicle"
    ):
        world.draw(camera="behind")


def test_draw_writes_no_file(tmp_path: Path) -> None:
    world = mvsim_gym.World(write_world(tmp_path, ""))
    with pytest.raises(
        ValueError, match=r"draw: found 'a\.png' as the width.*returns the picture as an array"
    ):
        world.draw("a.png")  # type: ignore[arg-type]


def test_missing_files_are_one_kind_of_error(tmp_path: Path) -> None:
    path = write_world(tmp_path, '<include file="definitions/x.xml"/>')
    with pytest.raises(
        mvsim_gym.WorldFileError, match=r"no such world file, did you mean 'w\.world\.xml'\? Looked in"
    ):
        mvsim_gym.World(tmp_path / "v.world.xml")
    with pytest.raises(mvsim_gym.WorldFileError, match=r"'definitions/x\.xml' does not exist.*ooked in"):
        mvsim_gym.World(path)
    (tmp_path / "near.env.xml").touch()
    makers: list[Any] = [
        mvsim_gym.Env,
        mvsim_gym.VectorEnv,
        mvsim_gym.spec,
        partial(mvsim_gym.register, "mine/Missing-v0"),
        lambda env: gym.make("mvsim/Custom-v0", env=env),
    ]
    for make in makers:
        with pytest.raises(mvsim_gym.MissingFileError, match=r"no such environment file; looked in"):
            make(tmp_path / "far" / "away.env.xml")
        with pytest.raises(FileNotFoundError, match=r"did you mean 'near\.env\.xml'\? Looked in"):
            make(tmp_path / "neat.env.xml")
    with pytest.raises(mvsim_gym.WorldFileError, match=r"keyword map: .*'.*offise\.yaml' does not exist"):
        mvsim_gym.Env("mvsim/NavMap-v0", map=tmp_path / "offise.yaml")


@pytest.mark.parametrize("states", ["text", 5, ["text"], [5]])
def test_states_that_are_no_bytes(states: Any) -> None:
    envs = mvsim_gym.VectorEnv(ARENA, num_envs=1)
    with pytest.raises(TypeError, match=r"snapshot: found an? .*expected bytes"):
        envs.set_state(None, states)


def test_both_blocks_of_a_name_are_found(tmp_path: Path) -> None:
    block = '<block name="b"><init_pose>{} 0 0</init_pose></block>\n'
    world = mvsim_gym.World(write_world(tmp_path, block.format(0) + block.format(5)))
    assert world.blocks["b"].pose.x == 0
    assert world.blocks["b_2"].pose.x == 5
    assert any("given to a second <block>, which is called 'b_2'" in text for text in world.warnings)


def test_an_include_lists_the_parameters_it_has(tmp_path: Path) -> None:
    (tmp_path / "part.xml").write_text('<block name="${name|b}"><init_pose>${x|0} 0 0</init_pose></block>')
    world = mvsim_gym.World(write_world(tmp_path, '<include file="part.xml" namme="c"/>'))
    assert any(
        "has no parameter 'namme', did you mean 'name'?; it has name, x" in text for text in world.warnings
    ), world.warnings


def test_actions_in_physical_units_are_told_once() -> None:
    env = mvsim_gym.Env(ARENA)
    env.reset(seed=1)
    with pytest.warns(
        UserWarning, match=r"the action omega is 2\.5, which counts as 1: actions are in \[-1, 1\]"
    ):
        env.step(np.array([0.1, 2.5], np.float32))
    env.step(np.array([0.1, 2.5], np.float32))  # a second warning would be an error here
    envs = mvsim_gym.VectorEnv(ARENA, num_envs=3)
    envs.reset(seed=1)
    with pytest.warns(UserWarning, match="the action vx is -30"):
        envs.step(np.array([[0, 0], [-30, 0], [0, 9]], np.float32))


def test_actions_about_the_bounds_are_not() -> None:
    env = mvsim_gym.Env(ARENA)
    env.reset(seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for action in ([1.9, -1.5], [np.nan, 0], [np.inf, 1]):
            env.step(np.array(action, np.float32))


def test_several_maps() -> None:
    office = Path(__file__).parents[2] / "worlds" / "maps" / "office.yaml"
    with gym.make("mvsim/NavMap-v0", map=[office, str(office)]) as env:
        observation, _ = env.reset(seed=1)
        assert np.isfinite(observation["scan"]).all()
    with pytest.raises(
        ValueError, match=r"keyword map: found a number, expected the path of a file, or a list"
    ):
        mvsim_gym.Env("mvsim/NavMap-v0", map=[1, 2])


def test_parameters_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    found = {p.path: p for p in parameters_of(ARENA, obstacles=2)}
    mu = found["vehicle:robot/friction/mu"]
    assert mu.low == 0 and mu.nominal > 0
    assert found["vehicle:robot/chassis/mass"].unit == "kg"
    assert "block:obstacle2/scale" in found and "block:obstacle3/scale" not in found
    assert main(["parameters", ARENA, "vehicle:*/friction/*"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["parameter", "nominal", "range", "unit"]
    assert lines[1].split()[:2] == ["vehicle:robot/friction/mu", f"{mu.nominal:.6g}"]
    assert main(["parameters", ARENA, "nothing"]) == 1
    assert "no parameter matches 'nothing'" in capsys.readouterr().err


def test_parameters_of_a_registration_with_keywords(tmp_path: Path) -> None:
    try:
        mvsim_gym.register(
            "mine/Few-v0", ARENA, obstacles=1, spl=True, max_episode_steps=5, memory_limit=10**9
        )
        paths = [p.path for p in mvsim_gym.parameters.parameters_of("mine/Few-v0", roots=[tmp_path])]
    finally:
        gym.registry.pop("mine/Few-v0", None)
    assert "block:obstacle1/scale" in paths and "block:obstacle2/scale" not in paths


def test_every_listed_parameter_can_be_randomised() -> None:
    paths = [p for p in parameters_of(ARENA, obstacles=1) if not p.choices]
    env = mvsim_gym.Env(ARENA, obstacles=1, randomize={p.path: {"value": p.nominal} for p in paths})
    env.reset(seed=1)
