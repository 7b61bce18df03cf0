"""The native vector environment says exactly what Gymnasium's own say over single environments: the oracle here is
SyncVectorEnv (and AsyncVectorEnv), compared bit by bit."""

from __future__ import annotations

import itertools
import os
import time
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from conftest import actions_for, equal, pictures_of, short, trajectory
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from mvsim_gym import VectorEnv

MODES = list(AutoresetMode)


def make(
    env_id: str, kind: str, num_envs: int, mode: AutoresetMode, **keywords: Any
) -> gym.vector.VectorEnv[Any, Any, Any]:
    if kind == "vector_entry_point":
        keywords |= {"autoreset_mode": mode}
    else:
        keywords |= {"vector_kwargs": {"autoreset_mode": mode}}
    return gym.make_vec(env_id, num_envs=num_envs, vectorization_mode=kind, **keywords)


@pytest.mark.parametrize("num_envs", [1, 3, 16])
@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_equals_sync(env_id: str, mode: AutoresetMode, num_envs: int) -> None:
    # of a lone env 16 episodes and more, with pictures 7; of 16 together more
    steps, limit = (60, 8) if pictures_of(env_id) else (400 if num_envs < 16 else 170, 25)
    keywords = {**short(env_id, limit), "spl": True}
    ours = trajectory(make(env_id, "vector_entry_point", num_envs, mode, **keywords), steps, mode)
    sync = trajectory(make(env_id, "sync", num_envs, mode, **keywords), steps, mode)
    equal(ours, sync)
    assert sum(bool(result[-1]) for result in ours) > 5, "episodes ended"


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_equals_async(mode: AutoresetMode) -> None:
    keywords = short("mvsim/NavArena-v0", 25)
    asynchronous = make("mvsim/NavArena-v0", "async", 3, mode, **keywords)
    theirs = trajectory(asynchronous, 150, mode)
    ours = trajectory(make("mvsim/NavArena-v0", "vector_entry_point", 3, mode, **keywords), 150, mode)
    # workers send a copy of each array with the step that they fill in; types and values are the same
    equal(ours, theirs)


def test_spaces_equal_sync(env_id: str) -> None:
    ours, sync = gym.make_vec(env_id, num_envs=3), gym.make_vec(env_id, num_envs=3, vectorization_mode="sync")
    assert isinstance(ours.unwrapped, VectorEnv) and isinstance(sync, SyncVectorEnv)
    assert ours.observation_space == sync.observation_space and ours.action_space == sync.action_space
    assert ours.single_observation_space == sync.single_observation_space
    assert ours.single_action_space == sync.single_action_space
    observation, _ = ours.reset(seed=0)
    assert list(observation) == list(sync.reset(seed=0)[0])
    assert observation in ours.observation_space


def test_bad_actions_in_the_infos_equal_sync() -> None:
    for mode in (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP):
        both = [
            make("mvsim/NavArena-v0", kind, 4, mode, time_limit=1) for kind in ("vector_entry_point", "sync")
        ]
        for envs in both:
            envs.reset(seed=0)
        actions = actions_for(1, 30, 4)
        actions[np.random.default_rng(0).random(actions.shape) < 0.1] = np.nan
        for action in actions:
            equal(*(envs.step(action) for envs in both))


def test_attributes(env_id: str) -> None:
    for mode in MODES:
        envs = gym.make_vec(env_id, num_envs=2, num_threads=2, autoreset_mode=mode)
        by_value = gym.make_vec(env_id, num_envs=2, autoreset_mode=mode.value)
        for e in (envs, by_value):
            assert e.metadata["autoreset_mode"] is mode and e.unwrapped.autoreset_mode is mode  # type: ignore[attr-defined]
        assert envs.metadata is not by_value.metadata
        assert envs.spec is not None and envs.spec.id == env_id and not envs.closed
        assert envs.unwrapped.num_threads == 2  # type: ignore[attr-defined]
    assert "autoreset_mode" not in VectorEnv.metadata


@pytest.mark.parametrize("num_envs", [0, -1, 1.5, True, "2"])
def test_num_envs(num_envs: Any) -> None:
    with pytest.raises(ValueError, match="num_envs"):
        gym.make_vec("mvsim/NavArena-v0", num_envs=num_envs)


def test_autoreset_mode_by_a_wrong_name() -> None:
    with pytest.raises(ValueError, match=r"autoreset_mode.*NextStep"):
        gym.make_vec("mvsim/NavArena-v0", autoreset_mode="Never")


def test_max_episode_steps(env_id: str) -> None:
    envs = gym.make_vec(env_id, num_envs=2, max_episode_steps=4)
    envs.reset(seed=0)
    truncated = [envs.step(np.zeros((2, 2), np.float32))[3].all() for _ in range(4)]
    assert truncated == [False, False, False, True]
    with pytest.raises(ValueError, match="max_episode_steps"):
        gym.make_vec(env_id, num_envs=2, max_episode_steps=0)


@pytest.mark.parametrize("mask", [m for m in itertools.product([False, True], repeat=4) if any(m)])
def test_reset_mask(mask: tuple[bool, ...]) -> None:
    """Every subset of four: those are reset, the others go on as if nothing had been."""
    began = time.monotonic()
    envs = gym.make_vec("mvsim/NavArena-v0", num_envs=4, num_threads=2)
    twin = gym.make_vec("mvsim/NavArena-v0", num_envs=4)
    chosen = np.array(mask)
    for e in (envs, twin):
        e.reset(seed=0)
    before = envs.step(actions_for(0, 1, 4)[0])[0]
    twin.step(actions_for(0, 1, 4)[0])
    options = {"reset_mask": chosen}
    observation, info = envs.reset(options=options)
    assert info == {} and options == {"reset_mask": chosen}
    for key in observation:
        assert (observation[key][~chosen] == before[key][~chosen]).all()
        assert (observation[key][chosen] != before[key][chosen]).any(axis=1).all()
    after, expected = (e.step(actions_for(1, 1, 4)[0]) for e in (envs, twin))
    for key in observation:
        assert (after[0][key][~chosen] == expected[0][key][~chosen]).all()
    assert (after[1][~chosen] == expected[1][~chosen]).all()
    assert time.monotonic() - began < 5, "blocked"


def test_reset_mask_with_seeds() -> None:
    envs = gym.make_vec("mvsim/NavArena-v0", num_envs=3)
    first, _ = envs.reset(seed=[7, 8, 9])
    envs.reset()
    again, _ = envs.reset(seed=[1, 8, 1], options={"reset_mask": np.array([False, True, False])})
    assert (again["scan"][1] == first["scan"][1]).all() and (again["scan"][0] != first["scan"][0]).any()


@pytest.mark.parametrize(
    ("mask", "error"),
    [
        ([True, False], TypeError),
        (np.array([1, 0]), TypeError),
        (np.array([True, False, True]), ValueError),
        (np.array([[True, False]]), ValueError),
        (np.array([False, False]), ValueError),
        (None, TypeError),
    ],
)
def test_wrong_reset_masks(mask: Any, error: type[Exception]) -> None:
    envs = gym.make_vec("mvsim/NavArena-v0", num_envs=2)
    envs.reset(seed=0)
    with pytest.raises(error, match="reset_mask"):
        envs.reset(options={"reset_mask": mask})
    envs.step(np.zeros((2, 2), np.float32))


def test_unknown_options() -> None:
    envs = gym.make_vec("mvsim/NavArena-v0", num_envs=2)
    envs.reset(seed=0, options={})
    with pytest.raises(ValueError, match="reset_masc"):
        envs.reset(options={"reset_masc": np.array([True, True])})


def test_order_is_enforced() -> None:
    envs = gym.make_vec("mvsim/NavArena-v0", num_envs=2, autoreset_mode="Disabled", time_limit=0.2)
    action = np.zeros((2, 2), np.float32)
    with pytest.raises(gym.error.ResetNeeded):
        envs.step(action)
    envs.reset(seed=0, options={"reset_mask": np.array([True, False])})
    with pytest.raises(gym.error.ResetNeeded, match="env 1"):
        envs.step(action)
    envs.reset()
    assert envs.step(action)[3].all()
    envs.reset(options={"reset_mask": np.array([True, False])})
    with pytest.raises(gym.error.ResetNeeded, match="env 1"):
        envs.step(action)
    envs.close()
    envs.close()
    assert envs.closed
    with pytest.raises(gym.error.ClosedEnvironmentError):
        envs.step(action)


def test_seeds(env_id: str) -> None:
    envs = gym.make_vec(env_id, num_envs=3, **short(env_id, 5))
    by_int, _ = envs.reset(seed=5)
    assert envs.np_random_seed == (5, 6, 7)
    for seeds in ([5, 6, 7], (5, 6, 7), np.array([5, 6, 7])):
        equal(envs.reset(seed=seeds)[0], by_int)  # type: ignore[arg-type]
    second, _ = envs.reset()
    mixed, _ = envs.reset(seed=[5, None, None])  # type: ignore[arg-type]
    third, _ = (envs.reset(seed=5), envs.reset(), envs.reset())[-1]
    for key in by_int:
        assert (mixed[key][0] == by_int[key][0]).all() and (mixed[key][1:] == third[key][1:]).all()
    assert any((second[key] != third[key]).any() for key in second)
    for i in range(3):  # env i is a single env with seed 5 + i
        single, _ = gym.make(env_id, **short(env_id, 5)).reset(seed=5 + i)
        assert all((single[key] == by_int[key][i]).all() for key in single)
    for wrong in ([1, 2], [], [1, 2, 3, 4]):
        with pytest.raises(ValueError, match="seed"):
            envs.reset(seed=wrong)  # type: ignore[arg-type]


def test_unseeded_envs_differ_and_a_seed_makes_fresh_generators() -> None:
    envs = gym.make_vec("mvsim/NavArena-v0", num_envs=2)
    observation, _ = envs.reset()
    assert (observation["scan"][0] != observation["scan"][1]).any()
    before = envs.np_random
    envs.reset(seed=1)
    assert all(a is not b for a, b in zip(before, envs.np_random, strict=True))


def test_without_copies() -> None:
    copied, views = (gym.make_vec("mvsim/NavArena-v0", num_envs=2, copy=copy) for copy in (True, False))
    first, _ = views.reset(seed=0)
    equal(copied.reset(seed=0)[0], {key: array.copy() for key, array in first.items()})
    kept = copied.step(np.ones((2, 2), np.float32))
    result = views.step(np.ones((2, 2), np.float32))
    equal(result, kept)
    assert all(result[0][key] is first[key] for key in first), "the same memory at every step"
    held = copied.step(np.zeros((2, 2), np.float32))
    assert all((kept[0][key] != held[0][key]).any() for key in ("scan", "velocity"))
    scan = result[0]["scan"]
    views.close()
    del views, result, first
    assert np.isfinite(scan).all()  # a view keeps its memory alive


def test_observations_into_arrays_of_the_caller() -> None:
    plain, envs = (gym.make_vec("mvsim/NavArena-v0", num_envs=3).unwrapped for _ in range(2))
    assert isinstance(envs, VectorEnv)
    spaces = envs.observation_space.spaces  # type: ignore[attr-defined]
    buffer = {key: np.full((5, *space.shape), -7, np.float32) for key, space in spaces.items()}
    first, _ = envs.reset(seed=0, out={key: rows[0] for key, rows in buffer.items()})
    expected = [plain.reset(seed=0)[0]]
    for t in range(1, 5):
        actions = np.full((3, 2), 0.2 * t, np.float32)
        row = {key: rows[t] for key, rows in buffer.items()}
        result = envs.step(actions, out=row)
        assert all(result[0][key] is row[key] for key in row)
        expected.append(plain.step(actions)[0])
    for t, observation in enumerate(expected):
        equal(observation, {key: rows[t] for key, rows in buffer.items()})
    assert all(np.shares_memory(first[key], buffer[key]) for key in first)


def test_wrong_arrays_of_the_caller_are_refused_before_anything_moves() -> None:
    envs, other = (gym.make_vec("mvsim/NavArena-v0", num_envs=2).unwrapped for _ in range(2))
    assert isinstance(envs, VectorEnv)
    good, _ = envs.reset(seed=0)
    other.reset(seed=0)
    actions = np.ones((2, 2), np.float32)
    frozen = good["velocity"].copy()
    frozen.flags.writeable = False
    sizes = {key: array.shape[1] for key, array in good.items()}
    memory = np.zeros((2, sum(sizes.values())), np.float32)
    wrong: list[Any] = [
        {**good, "velocity": frozen},
        {**good, "velocity": np.broadcast_to(np.float32(0), good["velocity"].shape)},
        {**good, "scan": good["scan"].astype(">f4")},
        {key: memory[:, :size] for key, size in sizes.items()},  # one in the memory of another
        {**good, "scan": good["scan"].astype(np.float64)},
        {**good, "scan": good["scan"][:, 1:]},
        {**good, "scan": good["scan"].tolist()},
        {key: array for key, array in good.items() if key != "scan"},
        {**good, "more": good["scan"]},
    ]
    for out in wrong:
        with pytest.raises(ValueError, match="out"):
            envs.step(actions, out=out)
    with pytest.raises(TypeError, match="out: found a list, expected a dict"):
        envs.step(actions, out=[good])  # type: ignore[arg-type]
    ends = dict(zip(sizes, np.cumsum(list(sizes.values())), strict=True))
    columns = {key: memory[:, end - sizes[key] : end] for key, end in ends.items()}  # strides, but apart
    result, expected = envs.step(actions, out=columns), other.step(actions)
    equal(result, expected)


def test_the_batchs_own_arrays_as_those_of_the_caller() -> None:
    """Two observations of one shape: the array of one, given for the other, would be overwritten too early."""
    envs = VectorEnv("mvsim/NavArena-v0", num_envs=2, copy=False, observe={"last_action": True})
    first, _ = envs.reset(seed=0)
    assert first["velocity"].shape == first["last_action"].shape
    actions = np.ones((2, 2), np.float32)
    with pytest.raises(ValueError, match="out"):
        envs.step(actions, out={**first, "velocity": first["last_action"]})
    swapped = {**first, "velocity": first["last_action"], "last_action": first["velocity"]}
    with pytest.raises(ValueError, match=r"out\['(velocity|last_action)'\]: is where the batch has"):
        envs.step(actions, out=swapped)
    result = envs.step(actions, out=first)[0]
    assert (result["last_action"] == 1).all()


def threads_tied_to_one_processor() -> int:
    status = [path.read_text() for path in Path("/proc/self/task").glob("*/status")]
    lists = [line.split()[1] for text in status for line in text.splitlines() if "Cpus_allowed_list" in line]
    return sum(allowed.isdigit() for allowed in lists)


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two processors")
def test_pin() -> None:
    before = threads_tied_to_one_processor()
    pinned, free = (
        gym.make_vec("mvsim/NavArena-v0", num_envs=8, num_threads=2, pin=pin) for pin in (True, False)
    )
    for envs in (pinned, free):
        envs.reset(seed=0)
    for _ in range(500):  # on a busy machine the caller may be through before the worker has begun
        if threads_tied_to_one_processor() > before:
            break
        time.sleep(0.01)
    assert threads_tied_to_one_processor() == before + 1, "the worker, not the caller"
    actions = np.ones((8, 2), np.float32)
    equal(pinned.step(actions), free.step(actions))
    pinned.close()
    assert threads_tied_to_one_processor() == before
    with pytest.raises(ValueError, match="pin: found 1000 threads, expected at most"):
        gym.make_vec("mvsim/NavArena-v0", num_envs=1000, num_threads=1000, pin=True)


def test_actions_are_not_copied() -> None:
    from mvsim_gym._checks import as_actions

    actions = np.zeros((4, 2), np.float32)
    assert as_actions(actions, (4, 2)) is actions


def test_render(env_id: str) -> None:
    envs = gym.make_vec(env_id, num_envs=3, render_mode="rgb_array", width=40, height=30)
    envs.reset(seed=0)
    frames = envs.render()
    assert isinstance(frames, tuple) and len(frames) == 3
    assert all(frame.shape == (30, 40, 3) and frame.dtype == np.uint8 for frame in frames)
    assert (frames[0] != frames[1]).any()
    single = gym.make(env_id, render_mode="rgb_array", width=40, height=30)
    single.reset(seed=1)
    assert (single.render() == frames[1]).all(), "a view of many is the view alone"


def test_wrappers_of_gymnasium() -> None:
    wrappers = gym.wrappers.vector
    envs: Any = gym.make_vec("mvsim/NavArena-v0", num_envs=4, time_limit=4)
    envs = wrappers.RecordEpisodeStatistics(envs)
    envs = wrappers.FlattenObservation(envs)
    envs = wrappers.NormalizeObservation(envs)
    envs.reset(seed=0)
    episodes = 0
    for action in actions_for(0, 200, 4):
        *_, info = envs.step(action)
        episodes += info["_episode"].sum() if "episode" in info else 0
    assert episodes > 20


@pytest.mark.filterwarnings("ignore:the action:UserWarning")
def test_bad_actions_leave_the_other_envs_alone() -> None:
    """Rubbish among the actions of half of the envs: theirs stay in their spaces, the others are bitwise the same."""
    num_envs, steps = 16, 150
    random = np.random.default_rng(5)
    actions = actions_for(2, steps, num_envs)
    rubbish = np.array([np.nan, np.inf, -np.inf, 1e30, 1e-42, -1e38], np.float32)
    bad = actions.copy()
    hit = random.random(bad.shape) < 0.05
    hit[:, 1::2] = False
    bad[hit] = random.choice(rubbish, hit.sum())
    envs = [gym.make_vec("mvsim/NavArena-v0", num_envs=num_envs, num_threads=2) for _ in range(2)]
    for e in envs:
        e.reset(seed=0)
    for step in range(steps):
        clean, dirty = envs[0].step(actions[step]), envs[1].step(bad[step])
        assert dirty[0] in envs[1].observation_space
        assert np.isfinite(dirty[1]).all()
        for key in clean[0]:
            assert (clean[0][key][1::2] == dirty[0][key][1::2]).all()
        for k in (1, 2, 3):
            assert (clean[k][1::2] == dirty[k][1::2]).all()


@pytest.mark.parametrize("actions", [np.ones((2, 2)) * 1j, np.array([["1", "0"]] * 2), [[None, 0.0]] * 2])
def test_actions_are_real_numbers(actions: Any) -> None:
    envs = gym.make_vec("mvsim/NavArena-v0", num_envs=2)
    envs.reset(seed=0)
    with pytest.raises(ValueError, match="expected real numbers"):
        envs.step(actions)


def test_more_envs_than_fit() -> None:
    with pytest.raises(ValueError, match=r"num_envs: found 1000000000, which takes more than .* GB"):
        gym.make_vec("mvsim/NavArena-v0", num_envs=10**9)
