"""The infos of vector environments, which are put together in C++, beside the batch's own columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from conftest import ALL_IDS, TEAM_IDS, actions_for, blind, short

import mvsim_gym
from mvsim_gym import _core

TYPES = {"bool": np.bool_, "int": np.int64, "float": np.float64}
ROWS = 8


def by_hand(batch: _core.Batch, among: npt.NDArray[np.bool_]) -> dict[str, npt.NDArray[Any]]:
    infos: dict[str, npt.NDArray[Any]] = {}
    for key, kind, values, mask in batch.info_columns():
        has = mask & among
        if has.any():
            infos[key] = np.where(has, values, 0).astype(TYPES[kind])
            infos["_" + key] = has
    return infos


def same(a: dict[str, Any], b: dict[str, Any]) -> None:
    assert list(a) == list(b)
    for key, values in a.items():
        assert values.dtype == b[key].dtype, key
        np.testing.assert_array_equal(values, b[key], err_msg=key)


@pytest.mark.parametrize("env_id", ALL_IDS)
def test_they_are_the_columns_of_a_batch(env_id: str) -> None:
    keywords = short(env_id, 5) | ({} if env_id in TEAM_IDS else blind(env_id))
    env = mvsim_gym.VectorEnv(env_id, num_envs=ROWS, **keywords)
    batch = env._open()
    env.reset(seed=0)
    every, some = np.ones(ROWS, np.bool_), np.arange(ROWS) % 3 == 0
    dicts = _core.InfoDicts(batch)
    told = 0
    for actions in actions_for(1, 12, ROWS, env.single_action_space.shape[0]):
        actions[0, 0] = np.nan  # a bad action is told before the episode's end
        infos = env.step(actions)[-1]
        infos = {key: infos[key] for key in infos if key not in ("alive", "_alive")}
        same(infos, by_hand(batch, every))
        same(dicts.of_rows(some), by_hand(batch, some))
        told += "_success" in infos and bool(infos["_success"].any())
    assert told > 0
    kept = env.step(actions)[-1]
    before = {key: values.copy() for key, values in kept.items()}
    env.step(actions)
    same(kept, before)  # owned by the caller alone
    env.close()


def test_a_mask_of_other_rows_is_refused() -> None:
    env = mvsim_gym.VectorEnv("mvsim/NavArena-v0", num_envs=2, time_limit=0.1)
    env.reset(seed=0)
    env.step(np.zeros((2, 2), np.float32))
    with pytest.raises(ValueError, match="a mask of 3 rows, expected 2"):
        _core.InfoDicts(env._open()).of_rows(np.ones(3, np.bool_))
    env.close()
