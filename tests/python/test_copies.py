"""Large observations are copied by the threads of a batch: they are the caller's own all the same."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import mvsim_gym
from mvsim_gym._outputs import LARGE

ID = "mvsim/DepthNavigation-v0"


def observed(**options: Any) -> list[dict[str, Any]]:
    envs = mvsim_gym.VectorEnv(ID, num_envs=16, **options)
    observation, _ = envs.reset(seed=3)
    seen = [observation]
    for k in range(4):
        observation, *_ = envs.step(np.full((16, 2), 0.3 * k - 0.5, np.float32))
        seen.append(observation)
    envs.close()
    return seen


def test_arrays_are_new_in_each_step_and_keep_their_values() -> None:
    by_threads, by_one = observed(num_threads=2), observed(num_threads=1)
    assert by_threads[0]["depth"].nbytes >= LARGE, "the threads copied it"
    for here, there in zip(by_threads, by_one, strict=True):
        assert here.keys() == there.keys()
        for key, array in here.items():
            assert array.flags.writeable
            assert array.flags.owndata
            np.testing.assert_array_equal(array, there[key])
    assert not np.array_equal(by_threads[1]["depth"], by_threads[4]["depth"])


def test_clones_and_pickles_copy_their_own() -> None:
    envs = mvsim_gym.VectorEnv(ID, num_envs=16, num_threads=2)
    envs.reset(seed=3)
    actions = np.full((16, 2), 0.4, np.float32)
    others = [copy.deepcopy(envs), pickle.loads(pickle.dumps(envs))]
    expected, *_ = envs.step(actions)
    for other in others:
        observation, *_ = other.step(actions)
        for key, array in observation.items():
            np.testing.assert_array_equal(array, expected[key])
        other.close()
    envs.close()


def test_only_arrays_like_the_batchs_own_are_filled() -> None:
    envs = mvsim_gym.VectorEnv(ID, num_envs=2, num_threads=1)
    observation, _ = envs.reset(seed=3)
    batch = envs._open()
    index = [o.key for o in batch.observations].index("depth")
    like = np.empty_like(observation["depth"])
    batch.copy_observations([(index, like)])
    np.testing.assert_array_equal(like, observation["depth"])
    for wrong in (like[:1], like[:, ::-1], np.empty(3, np.float32)):
        with pytest.raises(Exception, match="expected one like the batch's own"):
            batch.copy_observations([(index, wrong)])
    envs.close()
