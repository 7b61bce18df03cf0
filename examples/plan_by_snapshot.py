"""Drives without learning, by a planner that tries sequences of actions in a batch of copies of the environment.

At each decision the state of the real environment is restored in every env of a VectorEnv. Each env plays another
sequence of actions. The plan becomes the mean of the sequences, weighted by their returns (MPPI, Williams et al. 2017).
The copies have longer control periods than the environment, so that a plan reaches far. Its first action is held for
the same time.

    python examples/plan_by_snapshot.py --episodes 100
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from evaluation import HELD_OUT_SEEDS
from numpy.typing import NDArray

import mvsim_gym

Array = NDArray[np.floating]

HOLD = 3  # control periods for which an action is held
HORIZON = 12  # actions of a plan
NOISE = np.array([0.5, 0.5])  # standard deviation of the actions tried
SMOOTHNESS = 0.6  # share of its predecessor in each deviation
TEMPERATURE = 0.05  # of the weights, in units of the return


class Planner:
    """Plans for environments of one kind; a plan is kept, and shifted, from decision to decision."""

    def __init__(self, env_id: str, rollouts: int, seed: int = 0) -> None:
        with_period = mvsim_gym.Env(env_id)
        period = HOLD * with_period.control_period
        with_period.close()
        self._envs = mvsim_gym.VectorEnv(
            env_id, num_envs=rollouts, control_period=period, time_limit=1e6, copy=False
        )
        self._envs.reset(seed=seed)
        self._random = np.random.default_rng(seed)
        self._size = self._envs.single_action_space.shape[0]  # type: ignore[index]
        self.steps = 0
        """Steps of rollouts so far."""
        self.seconds = 0.0
        """Time that they took."""
        self.forget()

    def forget(self) -> None:
        """Call at the start of an episode: full speed ahead is the first guess."""
        self._plan = np.zeros((HORIZON, self._size))
        self._plan[:, 0] = 1

    def action(self, state: bytes) -> NDArray[np.float32]:
        """Returns the action in a state for the next `HOLD` control periods."""
        tried = self._sequences()
        returns = self._returns(state, tried)
        weights = np.exp((returns - returns.max()) / TEMPERATURE)
        plan = np.tensordot(weights / weights.sum(), tried, axes=1)
        self._plan = np.concatenate([plan[1:], plan[-1:]])
        return plan[0].astype(np.float32)

    def _sequences(self) -> Array:
        """(rollouts, HORIZON, size): the present plan, turns on the spot and on arcs, and random deviations."""
        n = self._envs.num_envs
        noise = self._random.normal(0, NOISE, (n, HORIZON, self._size))
        for k in range(1, HORIZON):
            noise[:, k] = SMOOTHNESS * noise[:, k - 1] + (1 - SMOOTHNESS**2) ** 0.5 * noise[:, k]
        noise[0] = 0
        tried = self._plan + noise
        turns = n // 4
        tried[-turns:, :, 0] = np.where(np.arange(turns) % 2 == 0, 1, -1)[:, None]
        tried[-turns:, :, 1] = self._random.uniform(-1, 1, (turns, 1)) * (np.arange(HORIZON) < 5)
        tried[-turns:, 5:, 0] = 1
        return np.clip(tried, -1, 1)

    def _returns(self, state: bytes, tried: Array) -> Array:
        began = time.perf_counter()
        self._envs.set_state(None, state)
        returns = np.zeros(len(tried))
        running = np.ones(len(tried), dtype=bool)
        for actions in np.ascontiguousarray(tried.swapaxes(0, 1), np.float32):
            _, rewards, terminated, truncated, _ = self._envs.step(actions)
            returns += np.where(running, rewards, 0)
            running &= ~(terminated | truncated)
            self.steps += len(tried)
        self.seconds += time.perf_counter() - began
        return returns


def drive(env: mvsim_gym.Env, planner: Planner, seed: int) -> bool:
    """Plays an episode; whether it was won."""
    env.reset(seed=seed)
    planner.forget()
    while True:
        action = planner.action(env.snapshot())
        for _ in range(HOLD):
            _, _, terminated, truncated, info = env.step(action)
            if terminated or truncated:
                return bool(info["success"])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--env", default="mvsim/NavArena-v0")
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--rollouts", type=int, default=64)
    args = parser.parse_args()
    env, planner = mvsim_gym.Env(args.env), Planner(args.env, args.rollouts)
    won = sum(drive(env, planner, seed) for seed in HELD_OUT_SEEDS[: args.episodes])
    print(f"success {100 * won / args.episodes:.1f} % of {args.episodes} episodes")
    print(f"{planner.steps / planner.seconds:,.0f} rollout steps/s")


if __name__ == "__main__":
    main()
