"""Gymnasium's contract of an environment, for every registered one. pytest turns every warning into a failure."""

from __future__ import annotations

import copy
import logging
import pickle
import random
import warnings
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from conftest import DATA, equal, run_python, short
from gymnasium.utils.env_checker import check_env

import mvsim_gym
from mvsim_gym import VectorEnv


def test_checker_of_gymnasium(env_id: str) -> None:
    env = gym.make(env_id, render_mode="rgb_array", width=64, height=48)
    check_env(env.unwrapped)
    env.close()


# Warnings of Stable-Baselines3's checker about images. Without a wrapper, images have no channel.
PLAIN_WARNINGS = {"depth": ["unconventional shape"], "range_image": ["unconventional shape"], "image": []}
# As the adapter orders them: floats, which policies take with `normalize_images=False`; low pictures, which NatureCNN
# cannot take and `PictureExtractor` can.
ORDERED_WARNINGS = {
    "depth": ["its `dtype` is (float32)", "upper and lower bounds are not in [0, 255]"],
    "range_image": [
        "its `dtype` is (float32)",
        "upper and lower bounds are not in [0, 255]",
        "minimal resolution",
    ],
    "image": [],
}


def test_checker_of_stable_baselines3(env_id: str) -> None:
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    from mvsim_gym.sb3 import FlatObservation

    env = gym.make(env_id)
    flat = FlatObservation(env.observation_space)
    ordered = gym.wrappers.TransformObservation(env, flat, flat.space)
    for checked, table in ((env.unwrapped, PLAIN_WARNINGS), (ordered, ORDERED_WARNINGS)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            checker.check_env(checked, warn=True)
        expected = [text for key in flat.pictures for text in table[key]]
        found = [str(warning.message) for warning in caught]
        assert len(found) == len(expected), found
        for text in expected:
            assert any(text in message for message in found), (text, found)
    env.close()


def test_flatten_observation(env_id: str) -> None:
    env = gym.wrappers.FlattenObservation(gym.make(env_id))
    observation, _ = env.reset(seed=0)
    assert observation in env.observation_space


def test_step_returns_plain_types(env_id: str) -> None:
    env = gym.make(env_id).unwrapped
    env.reset(seed=0)
    observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
    assert type(reward) is float and type(terminated) is bool and type(truncated) is bool and info == {}
    assert all(array.dtype == env.observation_space[key].dtype for key, array in observation.items())


def test_observations_are_copies(env_id: str) -> None:
    env = gym.make(env_id)
    first, _ = env.reset(seed=0)
    kept = copy.deepcopy(first)
    env.step(env.action_space.sample())
    equal(first, kept)


def test_info_at_the_end(env_id: str) -> None:
    env = gym.make(env_id, spl=True, **short(env_id, 5))
    env.reset(seed=0)
    total, info, done = 0.0, {}, False
    while not done:
        assert info == {}
        _, reward, terminated, truncated, info = env.step(env.action_space.sample())
        total += reward
        done = terminated or truncated
    kinds = {"success": bool, "collision": bool, "timeout": bool, "diverged": bool, "bad_action": int}
    kinds |= {"time": float, "path_length": float, "min_clearance": float, "spl": float}
    for key, kind in kinds.items():
        assert type(info[key]) is kind, key
    assert info["success"] + info["collision"] + info["timeout"] == 1
    assert ("optimal_length" in info) == info["success"]
    outcomes = [value for key, value in info.items() if key.startswith("terminated/")]
    assert outcomes and set(map(type, outcomes)) == {bool} and any(outcomes) != info["timeout"]
    terms = [value for key, value in info.items() if key.startswith("reward/")]
    assert sum(terms) == pytest.approx(total, abs=1e-9)


def test_without_spl_nothing_is_computed(env_id: str) -> None:
    env = gym.make(env_id, **short(env_id, 1))
    env.reset(seed=0)
    *_, info = env.step(env.action_space.sample())
    assert info and "spl" not in info and "optimal_length" not in info


def test_module_form_in_a_fresh_process(env_id: str) -> None:
    code = f"import gymnasium as gym; gym.make('mvsim_gym:{env_id}').reset(seed=0); print('ok')"
    done = run_python(code)
    assert done.stdout == "ok\n", done.stderr


def test_spec_goes_through_json(env_id: str) -> None:
    env = gym.make(env_id, time_limit=3.0, reward={"collision": -20})
    assert env.spec is not None
    again = gym.make(gym.envs.registration.EnvSpec.from_json(env.spec.to_json()))
    equal(env.reset(seed=4), again.reset(seed=4))


def test_spec_has_no_second_time_limit(env_id: str) -> None:
    assert gym.spec(env_id).max_episode_steps is None


def test_time_limits(env_id: str) -> None:
    ours = gym.make(env_id, **short(env_id, 7))
    theirs = gym.make(env_id, max_episode_steps=7, time_limit=None)
    for env in (ours, theirs):
        env.reset(seed=0)
        flags = [env.step(np.zeros(2, np.float32))[2:4] for _ in range(7)]
        assert flags == [(False, False)] * 6 + [(False, True)]


def test_registering_twice_changes_nothing() -> None:
    before = dict(gym.registry)
    mvsim_gym.register_all()
    assert gym.registry == before


def test_register_a_file(env_id: str) -> None:
    path = gym.make(env_id).unwrapped._batch.spec.path  # type: ignore[attr-defined]
    mvsim_gym.register("mine/Task-v3", path, time_limit=1.0)
    try:
        mvsim_gym.register("mine/Task-v3", path, time_limit=1.0)
        env, envs = gym.make("mine/Task-v3"), gym.make_vec("mine/Task-v3", num_envs=2)
        assert isinstance(envs, VectorEnv)
        custom = gym.make("mvsim/Custom-v0", env=path)
        equal(env.reset(seed=1), custom.reset(seed=1))
        mvsim_gym.register("mine/Task-v3", path)  # given anew
        assert gym.spec("mine/Task-v3").kwargs.keys() == {"env"}
    finally:
        del gym.registry["mine/Task-v3"]


def test_register_a_variant_of_an_id(env_id: str) -> None:
    mvsim_gym.register("mine/Task-v4", env_id, time_limit=1.0)
    mvsim_gym.register("mine/Short-v4", "mine/Task-v4", time_limit=0.5)
    try:
        equal(gym.make("mine/Short-v4").reset(seed=1), gym.make(env_id, time_limit=0.5).reset(seed=1))
        assert gym.spec("mine/Short-v4").kwargs["time_limit"] == 0.5
    finally:
        del gym.registry["mine/Task-v4"], gym.registry["mine/Short-v4"]


def test_register_nothing(tmp_path: Path) -> None:
    with pytest.raises(mvsim_gym.MissingFileError, match=r"missing\.env\.xml: no such environment file"):
        mvsim_gym.register("mine/Task-v5", tmp_path / "missing.env.xml")
    with pytest.raises(ValueError, match="did you mean 'mvsim/NavArena-v0'"):
        mvsim_gym.register("mine/Task-v5", "mvsim/NavArene-v0")
    assert "mine/Task-v5" not in gym.registry


def test_custom_needs_a_file() -> None:
    with pytest.raises(TypeError, match="env"):
        gym.make("mvsim/Custom-v0")
    with pytest.raises(ValueError, match="nowhere"):
        gym.make("mvsim/Custom-v0", env="nowhere.env.xml")


@pytest.mark.parametrize(
    ("keywords", "expected"),
    [
        ({"time_limt": 3}, "'time_limt', did you mean 'time_limit'"),
        ({"num_thread": 3}, "'num_thread', did you mean 'num_threads'"),
        ({"obstacle": 3}, "'obstacle', did you mean 'obstacles'"),
        ({"strict_action": True}, "'strict_action', did you mean 'strict_actions'"),
        ({"zzzzzzzz": 1}, "'zzzzzzzz'"),
    ],
)
def test_unknown_keywords(keywords: dict[str, Any], expected: str) -> None:
    for make in (gym.make, gym.make_vec):
        with pytest.raises(TypeError, match=expected):
            make("mvsim/NavArena-v0", **keywords)


@pytest.mark.parametrize(
    ("keywords", "expected"),
    [
        ({"reward": {"colision": -20}}, "reward.colision.*did you mean 'collision'"),
        ({"reward": {"progress": {"wieght": 1}}}, "wieght.*did you mean 'weight'"),
        ({"time_limit": "long"}, "time_limit.*expected a number"),
        ({"control_period": -1}, "control_period"),
        ({"observe": {"scan": {"sectors": 7.5}}}, "sectors"),
        ({"reset": {"spawn": {"clearance": float("nan")}}}, "clearance"),
        ({"render_mode": "human2"}, "render_mode.*rgb_array"),
        ({"camera": "below", "render_mode": "rgb_array"}, "camera.*above"),
        ({"width": 0}, "width"),
        ({"num_threads": -1}, "num_threads"),
        ({"num_threads": 1.5}, "num_threads"),
    ],
)
def test_bad_values_are_value_errors(keywords: dict[str, Any], expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        mvsim_gym.Env("mvsim/NavArena-v0", **keywords)


def test_values_that_json_cannot_say() -> None:
    with pytest.raises(TypeError, match=r"time_limit"):
        gym.make("mvsim/NavArena-v0", disable_env_checker=True, time_limit=object())


def test_keywords_of_every_kind_take_effect() -> None:
    env = gym.make(
        "mvsim/NavArena-v0",
        control_period=0.1,
        obstacles=np.int64(3),
        radius=(0.2, 0.2),
        observe={"scan": {"sectors": 12}, "velocity": False},
        reward={"collision": -20, "heading": {"weight": 0.5}, "turn": None},
        action={"vx": [0, 0.1]},
    )
    core = env.unwrapped
    assert set(env.observation_space.spaces) == {"goal", "scan"}  # type: ignore[attr-defined]
    assert env.observation_space["scan"].shape == (12,)  # type: ignore[index]
    assert core.control_period == 0.1 and core.action_high[0] == 0.1  # type: ignore[attr-defined]
    env.reset(seed=0)
    done = False
    while not done:
        *_, terminated, truncated, info = env.step(env.action_space.sample())
        done = terminated or truncated
    assert "reward/heading" in info and "reward/turn" not in info


def test_overrides_are_not_changed() -> None:
    reward = {"collision": -20, "progress": {"weight": 3}}
    kept = copy.deepcopy(reward)
    mvsim_gym.Env("mvsim/NavArena-v0", reward=reward)
    assert reward == kept


def test_metadata_is_the_instances_own() -> None:
    a = mvsim_gym.Env("mvsim/NavArena-v0", control_period=0.1)
    b = mvsim_gym.Env("mvsim/NavArena-v0")
    assert a.metadata["render_fps"] == pytest.approx(10) and b.metadata["render_fps"] == pytest.approx(5)
    assert "render_fps" not in mvsim_gym.Env.metadata


def test_order_is_enforced() -> None:
    env = mvsim_gym.Env("mvsim/NavArena-v0", time_limit=0.2)
    action = np.zeros(2, np.float32)
    with pytest.raises(gym.error.ResetNeeded):
        env.step(action)
    env.reset(seed=0)
    assert env.step(action)[3]
    with pytest.raises(gym.error.ResetNeeded):
        env.step(action)
    env.close()
    env.close()
    for use in (env.reset, env.render, lambda: env.step(action)):
        with pytest.raises(gym.error.ClosedEnvironmentError):
            use()


def test_options() -> None:
    env = mvsim_gym.Env("mvsim/NavArena-v0")
    env.reset(seed=0, options={})
    options = {"pose": 1}
    with pytest.raises(ValueError, match="pose"):
        env.reset(options=options)
    assert options == {"pose": 1}


@pytest.mark.parametrize("action", [np.zeros(3, np.float32), np.zeros((1, 2), np.float32), 0.0, [], "fast"])
def test_actions_of_the_wrong_shape(action: Any) -> None:
    env = mvsim_gym.Env("mvsim/NavArena-v0")
    env.reset(seed=0)
    with pytest.raises(ValueError):
        env.step(action)


def test_actions_of_other_types_and_layouts() -> None:
    results = []
    for action in (
        np.array([0.5, -0.25], np.float32),
        np.array([0.5, -0.25]),
        [0.5, -0.25],
        np.array([0.5, 9, -0.25, 9], np.float32)[::2],
    ):
        env = mvsim_gym.Env("mvsim/NavArena-v0")
        env.reset(seed=0)
        results.append(env.step(action))  # type: ignore[arg-type]
    for result in results[1:]:
        equal(result, results[0])


def test_bad_actions_count_as_zero() -> None:
    env, zero = (mvsim_gym.Env("mvsim/NavArena-v0") for _ in range(2))
    env.reset(seed=0)
    zero.reset(seed=0)
    for count, value in enumerate((np.nan, np.inf, -np.inf, 1e300), start=1):
        bad = env.step(np.array([value, 0.5]))
        good = zero.step(np.zeros(2, np.float32))
        equal(bad[:4], good[:4])
        assert bad[4] == {"bad_action": count}


def test_strict_actions_raise_before_anything_moves() -> None:
    env = mvsim_gym.Env("mvsim/NavArena-v0", strict_actions=True)
    same = mvsim_gym.Env("mvsim/NavArena-v0")
    for e in (env, same):
        e.reset(seed=0)
    with pytest.raises(ValueError, match="not finite"):
        env.step(np.array([np.nan, 0], np.float32))
    action = np.array([1, 0], np.float32)
    equal(env.step(action), same.step(action))


def test_seeding(env_id: str) -> None:
    """Same seed, same two episodes; another seed, another; nothing of the process's own generators is used."""
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002 (the state that must not be touched)
    states = random.getstate(), np.random.get_state()  # noqa: NPY002
    env = gym.make(env_id, **short(env_id, 10)).unwrapped

    def two_episodes(seed: int | None) -> list[Any]:
        out = [env.reset(seed=seed)[0]]
        for action in np.random.default_rng(3).uniform(-1, 1, (10, 2)).astype(np.float32):
            step = env.step(action)
            out.append(step[:4])
            if step[2] or step[3]:
                break
        return [*out, env.reset()[0], env.step(np.zeros(2, np.float32))[0]]

    first, second, other = two_episodes(5), two_episodes(5), two_episodes(6)
    equal(first, second)
    assert any(first[0][key].tobytes() != other[0][key].tobytes() for key in first[0])
    assert any(first[0][key].tobytes() != first[-2][key].tobytes() for key in first[0])
    equal(random.getstate(), states[0])
    equal(np.random.get_state(), states[1])  # noqa: NPY002


def test_sensor_noise_is_seeded() -> None:
    """Fixed scene, so that nothing but noise can differ."""
    scene = {
        "obstacles": 0,
        "reset": {"spawn": {"pose": "-2 -2 0"}, "goal": {"position": "2 2", "distance": None}},
    }
    env = mvsim_gym.Env("mvsim/NavArena-v0", **scene)
    a, b, c = (env.reset(seed=seed)[0] for seed in (1, 1, 2))
    equal(a, b)
    equal(a["goal"], c["goal"])
    assert a["scan"].tobytes() != c["scan"].tobytes()


def test_unseeded_environments_differ() -> None:
    a, b = (mvsim_gym.Env("mvsim/NavArena-v0").reset()[0] for _ in range(2))
    assert a["scan"].tobytes() != b["scan"].tobytes()


def test_pictures(env_id: str) -> None:
    for camera in ("above", "behind", "follow"):
        env = gym.make(env_id, render_mode="rgb_array", camera=camera, width=80, height=60)
        env.reset(seed=0)
        first = env.render()
        assert isinstance(first, np.ndarray)
        assert first.shape == (60, 80, 3) and first.dtype == np.uint8 and first.std() > 5
        assert (env.render() == first).all()
        env.reset()
        assert (env.render() != first).any()
    assert mvsim_gym.Env(env_id).render() is None


def test_looking_changes_nothing(env_id: str) -> None:
    seen = gym.make(env_id, render_mode="rgb_array", width=32, height=32)
    unseen = gym.make(env_id)
    equal(seen.reset(seed=2), unseen.reset(seed=2))
    for action in np.random.default_rng(0).uniform(-1, 1, (5, 2)).astype(np.float32):
        seen.render()
        equal(seen.step(action), unseen.step(action))


def test_notices_go_to_the_logger(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    world = tmp_path / "w.world.xml"
    world.write_text((DATA / "yard.world.xml").read_text().replace("<gravity>", "<gui/><gravity>"))
    with caplog.at_level(logging.WARNING, "mvsim_gym"):
        first = mvsim_gym.World(world).warnings
        mvsim_gym.World(world)
    assert any("gui" in text for text in first)
    assert sum("gui" in record.getMessage() for record in caplog.records) == 1


def test_a_mistake_is_told_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "w.world.xml"
    path.write_text("<mvsim_world>\n  <vehicle name='r' class='robto'/>\n</mvsim_world>\n")
    with pytest.raises(mvsim_gym.WorldFileError, match=r":2:\d+: ") as caught:
        mvsim_gym.World(path)
    error = pickle.loads(pickle.dumps(caught.value))  # as it comes from a worker process
    assert (error.path, error.line) == (str(path), 2) and error.column > 0 and str(error) == str(caught.value)


def test_wrapped_environments_are_copied_and_pickled() -> None:
    """Gymnasium's wrappers that hold functions need cloudpickle, which Gymnasium brings."""
    import cloudpickle

    plain = gym.make("mvsim/NavArena-v0")
    wrapped = gym.wrappers.FlattenObservation(plain)
    wrapped.reset(seed=1)
    action = np.array([0.5, 0.2], np.float32)
    wrapped.step(action)
    twins = [copy.deepcopy(wrapped), pickle.loads(cloudpickle.dumps(wrapped))]
    unwrapped = pickle.loads(pickle.dumps(plain))
    expected = wrapped.step(action)
    for twin in twins:
        equal(twin.step(action), expected)
        assert twin.unwrapped is not wrapped.unwrapped
    assert unwrapped.step(action)[1] == expected[1]


def test_films_of_gymnasium(tmp_path: Path) -> None:
    """The extra `video` installs the packages that Gymnasium's wrappers need."""
    pytest.importorskip("moviepy")
    keywords = {"render_mode": "rgb_array", "width": 64, "height": 64, "time_limit": 1}
    env = gym.make("mvsim/NavArena-v0", **keywords)
    env = gym.wrappers.RecordVideo(env, str(tmp_path / "one"), episode_trigger=lambda _: True)
    env.reset(seed=0)
    while not env.step(np.zeros(2, np.float32))[3]:
        pass
    env.close()
    if hasattr(gym.wrappers.vector, "RecordVideo"):  # since Gymnasium 1.3
        envs = gym.make_vec("mvsim/NavArena-v0", num_envs=2, **keywords)
        envs = gym.wrappers.vector.RecordVideo(envs, str(tmp_path / "many"), episode_trigger=lambda _: True)
        envs.reset(seed=0)
        while not envs.step(np.zeros((2, 2), np.float32))[3].any():
            pass
        envs.close()
    for folder in tmp_path.iterdir():
        films = [film.stat().st_size > 500 for film in folder.glob("*.mp4")]
        assert films and all(films)
    assert (tmp_path / "one").exists()


def test_an_environment_tells_its_time_limit() -> None:
    limits: list[tuple[dict[str, Any], float | None]] = [
        ({}, 50),
        ({"time_limit": 0}, None),
        ({"max_episode_steps": 10}, 10 * 0.2),
    ]
    for keywords, expected in limits:
        env = mvsim_gym.Env("mvsim/NavArena-v0", **keywords)
        assert env.time_limit == (None if expected is None else pytest.approx(expected))
        env.close()
