"""Rewards, observations and terminations in NumPy, and flat observations."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from conftest import actions_for, equal, short, trajectory
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import mvsim_gym
from mvsim_gym.errors import TermError

ARENA = "mvsim/NavArena-v0"
MODES = list(AutoresetMode)


def smooth(view: Any) -> np.ndarray:
    return -np.square(view.actions - view.previous_actions).sum(axis=1)


def near(view: Any) -> np.ndarray:
    """Metres to the goal and to the nearest thing that the lidar sees."""
    to_goal = np.linalg.norm(view.goals - view.poses[:, :2], axis=1)
    return np.stack([to_goal, view.scans.min(axis=1)], axis=1)


def noisy(view: Any) -> np.ndarray:
    return view.poses + view.random.normal(0, 0.1, size=3)


def slow(view: Any) -> np.ndarray:
    return (view.times > 2) & (np.abs(view.twists[:, 0]) < 0.1)


ALL: dict[str, Any] = {
    "reward_terms": {"smooth": smooth},
    "observation_terms": {"near": near, "noisy": noisy},
    "termination_terms": {"slow": slow},
}


@pytest.mark.parametrize("flatten", [False, True])
@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_many_equal_single_ones(mode: AutoresetMode, flatten: bool) -> None:
    """The oracle is SyncVectorEnv over single envs that run the same functions."""
    keywords = {**short(ARENA, 15), **ALL, "flatten": flatten}
    ours = gym.make_vec(ARENA, num_envs=5, num_threads=2, autoreset_mode=mode, **keywords)
    sync = gym.make_vec(
        ARENA, num_envs=5, vectorization_mode="sync", vector_kwargs={"autoreset_mode": mode}, **keywords
    )
    mine = trajectory(ours, 120, mode)
    equal(mine, trajectory(sync, 120, mode))
    keys = {key for result in mine for key in result[-1]} | {
        key for result in mine for key in result[-1].get("final_info", {})
    }
    assert {"reward/smooth", "terminated/slow"} <= keys


def test_the_same_numbers_for_fewer_envs() -> None:
    few, many = (
        trajectory(
            mvsim_gym.VectorEnv(ARENA, num_envs=n, num_threads=t, **short(ARENA, 15), **ALL),
            60,
            AutoresetMode.NEXT_STEP,
        )
        for n, t in ((2, 1), (7, 3))
    )
    for a, b in zip(few, many, strict=True):
        for key in a[0]:
            assert a[0][key].tobytes() == b[0][key][:2].tobytes(), key
        for x, y in zip(a[1:-1], b[1:-1], strict=True):
            assert x.tobytes() == y[:2].tobytes()


def test_a_term_in_python_equals_the_native_one() -> None:
    native = mvsim_gym.VectorEnv(ARENA, num_envs=3, reward={"action_rate": -1}, **short(ARENA, 15))
    own = mvsim_gym.VectorEnv(ARENA, num_envs=3, reward_terms={"smooth": smooth}, **short(ARENA, 15))
    native.reset(seed=1)
    own.reset(seed=1)
    for action in actions_for(4, 50, 3):
        a, b = native.step(action), own.step(action)
        assert a[1] == pytest.approx(b[1], abs=1e-12)
        equal(a[0], b[0])
        if "reward/action_rate" in a[4]:
            assert a[4]["reward/action_rate"] == pytest.approx(b[4]["reward/smooth"])


def test_terms_see_the_state_before_the_reset() -> None:
    seen: list[np.ndarray] = []

    def spy(view: Any) -> None:
        seen.append(view.times)

    envs = mvsim_gym.VectorEnv(
        ARENA, num_envs=2, autoreset_mode="SameStep", reward_terms={"spy": spy}, **short(ARENA, 5)
    )
    envs.reset(seed=0)
    for _ in range(5):
        envs.step(np.zeros((2, 2), np.float32))
    assert seen[-1] == pytest.approx([1.0, 1.0]) and envs.read("time").tolist() == [0, 0]


def test_observation_terms_run_again_after_a_reset() -> None:
    envs = mvsim_gym.VectorEnv(
        ARENA,
        num_envs=2,
        autoreset_mode="SameStep",
        observation_terms={"place": lambda view: view.poses},
        **short(ARENA, 5),
    )
    observation, _ = envs.reset(seed=0)
    assert observation["place"] == pytest.approx(envs.read("vehicle:robot/pose"), rel=1e-6)
    for _ in range(5):
        before = envs.read("vehicle:robot/pose")
        observation, _, _, truncated, infos = envs.step(np.full((2, 2), [-1, 0], np.float32))
    assert truncated.all()
    assert observation["place"] == pytest.approx(envs.read("vehicle:robot/pose"), rel=1e-6)
    for i in range(2):
        assert infos["final_obs"][i]["place"] == pytest.approx(before[i], abs=1e-3)
    assert not np.allclose(infos["final_obs"][0]["place"], observation["place"][0], atol=0.05)


def test_bounds_of_an_observation_term() -> None:
    def place(view: Any) -> np.ndarray:
        return view.poses

    place.low, place.high = [-1, -1, -4], [1, 1, 4]  # type: ignore[attr-defined]
    env = gym.make(ARENA, observation_terms={"place": place})
    box = env.observation_space["place"]  # type: ignore[index]
    assert box == gym.spaces.Box(np.float32([-1, -1, -4]), np.float32([1, 1, 4]))
    observation, _ = env.reset(seed=0, options={"pose": [2, 0, 1]})
    assert observation["place"] == pytest.approx([1, 0, 1], abs=1e-6)
    check_env(env.unwrapped, skip_render_check=True)


def test_a_view_ends_with_its_call_and_is_read_only() -> None:
    kept: list[Any] = []

    def keeps(view: Any) -> np.ndarray:
        kept.append(view)
        kept.append(view.poses)
        for array in (view.poses, view.twists, view.goals, view.scans, view.actions, view.contact):
            assert array.shape[0] == view.num_envs == 2
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1
        assert set(view.wheels) >= {"spin", "load"} and view.wheels["spin"].shape == (2, 2)
        assert list(view.observations) == ["scan", "goal", "velocity"]
        return np.zeros(2)

    envs = mvsim_gym.VectorEnv(ARENA, num_envs=2, reward_terms={"keeps": keeps})
    envs.reset(seed=0)
    envs.step(np.ones((2, 2), np.float32))
    before = kept[1].copy()
    envs.step(np.ones((2, 2), np.float32))
    assert (kept[1] == before).all()
    with pytest.raises(RuntimeError, match="has ended with the call"):
        _ = kept[0].poses


@pytest.mark.parametrize(
    ("terms", "text"),
    [
        ({"reward_terms": {"bad": lambda v: 1 / 0}}, "reward term 'bad': ZeroDivisionError"),
        ({"reward_terms": {"bad": lambda v: np.full(3, np.nan)}}, "reward term 'bad': environment 0: found"),
        ({"reward_terms": {"bad": lambda v: np.zeros(2)}}, r"reward term 'bad': found shape \(2,\)"),
        ({"reward_terms": {"bad": lambda v: "x"}}, "reward term 'bad': .*expected numbers"),
        ({"reward_terms": {"bad": lambda v: v.read("gaol")}}, "reward term 'bad': .*did you mean 'goal'"),
        ({"termination_terms": {"bad": lambda v: np.zeros(3)}}, "termination term 'bad': found float64"),
    ],
)
def test_a_failing_term_is_named_and_the_batch_goes_on(terms: dict[str, Any], text: str) -> None:
    envs = mvsim_gym.VectorEnv(ARENA, num_envs=3, **terms, **short(ARENA, 4))
    plain = mvsim_gym.VectorEnv(ARENA, num_envs=3, **short(ARENA, 4))
    envs.reset(seed=0)
    plain.reset(seed=0)
    for action in actions_for(0, 4, 3):
        with pytest.raises(TermError, match=text):
            envs.step(action)
        plain.step(action)
    equal(envs.read("vehicle:robot/pose"), plain.read("vehicle:robot/pose"))
    equal(envs.reset()[0], plain.reset()[0])


@pytest.mark.parametrize(
    ("keywords", "error", "text"),
    [
        ({"reward_terms": [smooth]}, TypeError, "reward_terms: found a list"),
        ({"reward_terms": {"a": 3}}, TypeError, r"reward_terms\['a'\]: found an int, expected a function"),
        ({"reward_terms": {"goal": smooth}}, ValueError, "'goal' is one of the environment already"),
        ({"observation_terms": {"scan": near}}, ValueError, "'scan' is an observation"),
        ({"observation_terms": {"a": lambda v: 3.0}}, TermError, "observation term 'a': found shape"),
    ],
)
def test_terms_that_are_none(keywords: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        mvsim_gym.VectorEnv(ARENA, num_envs=2, **keywords)


@pytest.mark.parametrize(
    ("wrong", "texts"),
    [
        (
            lambda v: v.pose,
            ["TermView has no 'pose', did you mean 'poses'?", "twists", "read('vehicle:robot/pose')"],
        ),
        (lambda v: v.velocity, ["TermView has no 'velocity', it has actions, ", "goals", "wheels; all else"]),
        (lambda v: v.wheels.spin, ["wheels has no attribute 'spin', expected a key: wheels['spin'], "]),
        (lambda v: v.observations.scan, ["expected a key: ", "observations['scan']"]),
    ],
)
def test_a_name_that_a_view_does_not_have(wrong: Callable[[Any], Any], texts: list[str]) -> None:
    envs = mvsim_gym.VectorEnv(ARENA, num_envs=2, reward_terms={"mine": wrong})
    envs.reset(seed=1)
    with pytest.raises(TermError) as caught:
        envs.step(np.zeros((2, 2), np.float32))
    for text in texts:
        assert text in str(caught.value)
    assert isinstance(caught.value.__cause__, AttributeError)


def test_pickles_copies_and_specs() -> None:
    envs = mvsim_gym.VectorEnv(ARENA, num_envs=3, **ALL, **short(ARENA, 15))
    envs.reset(seed=2)
    for action in actions_for(3, 10, 3):
        envs.step(action)
    twins = [copy.deepcopy(envs), pickle.loads(pickle.dumps(envs))]
    for action in actions_for(5, 20, 3):
        result = envs.step(action)
        for twin in twins:
            equal(twin.step(action), result)
    with_lambda = mvsim_gym.Env(ARENA, reward_terms={"a": lambda view: np.zeros(1)})
    with_lambda.reset(seed=0)
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(with_lambda)
    env = gym.make(ARENA, reward_terms={"smooth": smooth})
    assert env.spec is not None
    with pytest.raises(ValueError, match=r"reward_terms\['smooth'\] is a Python function"):
        env.spec.to_json()
    gym.make(env.spec).reset(seed=0)


def test_a_time_limit_of_gymnasium_reports_terms() -> None:
    env = gym.make(ARENA, reward_terms={"smooth": smooth}, max_episode_steps=3)
    env.reset(seed=0)
    for _ in range(3):
        *_, truncated, info = env.step(np.array([1, 0.5], np.float32))
    assert truncated and info["reward/smooth"] == pytest.approx(-1.25)


@pytest.mark.unsanitized
@pytest.mark.parametrize("flatten", [True, False])
def test_stable_baselines_learns_from_the_same_numbers(flatten: bool) -> None:
    """The oracle is VectorEnv with these functions; `near` has no bounds and is not scaled."""
    sb3 = pytest.importorskip("mvsim_gym.sb3", reason="needs the extra sb3")
    ours = sb3.MVSimVecEnv(ARENA, 4, flatten=flatten, **ALL, **short(ARENA, 15))
    plain = mvsim_gym.VectorEnv(ARENA, num_envs=4, autoreset_mode="SameStep", **ALL, **short(ARENA, 15))
    flat = sb3.FlatObservation(plain.single_observation_space) if flatten else lambda seen: seen
    ours.seed(3)
    equal(ours.reset(), flat(plain.reset(seed=3)[0]))
    twins, told = [ours], 0
    for k, actions in enumerate(actions_for(0, 60, 4)):
        observation, rewards, terminated, truncated, infos = plain.step(actions)
        for own in twins:
            seen, paid, done, said = own.step(actions)
            equal(seen, flat(observation))
            equal(paid, rewards.astype(np.float32))
            equal(done, terminated | truncated)
            for i in done.nonzero()[0]:
                told += 1
                assert said[i]["terminated/slow"] == infos["final_info"]["terminated/slow"][i]
                assert said[i]["reward/smooth"] == infos["final_info"]["reward/smooth"][i]
                equal(said[i]["terminal_observation"], flat(infos["final_obs"][i]))
        if k == 20:
            twins += [copy.deepcopy(ours), pickle.loads(pickle.dumps(ours))]
    assert told > 12
    state = ours.snapshot()
    equal(ours.restore(state), flat(observation))
    with pytest.raises(ValueError, match="goal_radius: found it beside terms in Python"):
        sb3.MVSimVecEnv(ARENA, 2, goal_radius=0.25, **ALL)


@pytest.mark.unsanitized
def test_a_failing_term_of_stable_baselines_is_named() -> None:
    sb3 = pytest.importorskip("mvsim_gym.sb3", reason="needs the extra sb3")

    def bad(view: Any) -> np.ndarray:
        if (np.abs(view.times - 0.6) < 0.01).any():
            raise KeyError("the third step")
        return np.zeros(2)

    envs = sb3.MVSimVecEnv(ARENA, 2, reward_terms={"bad": bad}, **short(ARENA, 5))
    envs.reset()
    lengths = []
    for _ in range(12):
        try:
            _, _, done, infos = envs.step(np.zeros((2, 2), np.float32))
            lengths += [infos[i]["episode"]["l"] for i in done.nonzero()[0]]
        except TermError as error:
            assert "reward term 'bad': KeyError" in str(error)
    assert lengths == [5, 5, 5, 5]


# ---------------------------------------------------------------- flat observations


def test_flat_observations_are_those_of_the_dict() -> None:
    observe = {"scan": {"sectors": 12, "history": 3}, "last_action": True}
    for make in (gym.make, lambda *a, **k: gym.make_vec(*a, num_envs=3, **k)):
        flat: Any = make(ARENA, flatten=True, observe=observe)
        dicts: Any = make(ARENA, observe=observe)
        assert flat.observation_space.dtype == np.float32
        a, b = flat.reset(seed=5)[0], dicts.reset(seed=5)[0]
        assert a in flat.observation_space
        assert a.tobytes() == np.concatenate([b[key] for key in dicts.observation_space], axis=-1).tobytes()
        action = np.full(flat.action_space.shape, 0.3, np.float32)
        a, b = flat.step(action)[0], dicts.step(action)[0]
        assert a.dtype == np.float32 and a.flags.owndata
        assert a.tobytes() == np.concatenate([b[key] for key in dicts.observation_space], axis=-1).tobytes()
    wrapped = gym.wrappers.FlattenObservation(gym.make(ARENA, observe=observe))
    assert wrapped.observation_space == gym.make(ARENA, flatten=True, observe=observe).observation_space


def test_flat_observations_without_copies_and_into_arrays() -> None:
    envs = mvsim_gym.VectorEnv(ARENA, num_envs=2, flatten=True, copy=False)
    first, _ = envs.reset(seed=0)
    second, *_ = envs.step(np.zeros((2, 2), np.float32))
    assert first is second
    out = np.zeros(envs.observation_space.shape, np.float32)  # type: ignore[arg-type]
    assert envs.step(np.zeros((2, 2), np.float32), out=out)[0] is out and out.any()
    with pytest.raises(ValueError, match="out: found float64"):
        envs.step(np.zeros((2, 2), np.float32), out=out.astype(float))
    twin = copy.deepcopy(envs)
    equal(twin.step(np.ones((2, 2), np.float32))[0].copy(), envs.step(np.ones((2, 2), np.float32))[0].copy())


def test_flat_environments_pass_gymnasiums_check() -> None:
    check_env(gym.make(ARENA, flatten=True).unwrapped, skip_render_check=True)
