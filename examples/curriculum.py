"""A curriculum without a remake: every env has a level of its own, which sets its knobs for its next episode.

An env that wins gets more obstacles on a larger share of the floor's friction range; one that fails gets fewer. The
scripted policy stands for a learner: what matters is the loop.

    python examples/curriculum.py --steps 2000
"""

from __future__ import annotations

import argparse

import numpy as np
from baselines import policies
from numpy.typing import NDArray

import mvsim_gym

ENV = "mvsim/NavArena-v0"
LEVELS = 8
FRICTION = "vehicle:robot/friction/mu"


def knobs_of(level: int) -> dict[str, object]:
    """Returns the reset options of an env at that level."""
    return {"obstacles": level, "radius": [0.1, 0.12 + 0.02 * level], FRICTION: 1.0 - 0.05 * level}


class Curriculum:
    """The levels of all envs; those whose episode ended go up or down."""

    def __init__(self, envs: mvsim_gym.VectorEnv) -> None:
        self._envs = envs
        self.levels: NDArray[np.int64] = np.zeros(envs.num_envs, np.int64)
        envs.set_knobs([knobs_of(0)] * envs.num_envs)

    def after(self, ended: NDArray[np.bool_], won: NDArray[np.bool_]) -> None:
        """Call after each step: the next episode of an env that ended has the knobs of its new level."""
        which = ended.nonzero()[0]
        if which.size == 0:
            return
        self.levels[which] = np.clip(self.levels[which] + np.where(won[which], 1, -1), 0, LEVELS)
        self._envs.set_knobs([knobs_of(int(self.levels[i])) for i in which], envs=which)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--envs", type=int, default=16)
    parser.add_argument("--steps", type=int, default=2000)
    args = parser.parse_args()
    envs = mvsim_gym.VectorEnv(ENV, num_envs=args.envs)
    policy = policies(ENV)["gap follower"]
    curriculum = Curriculum(envs)
    observation, _ = envs.reset(seed=0)
    for step in range(1, args.steps + 1):
        observation, _, terminated, truncated, infos = envs.step(policy(observation))
        won = infos.get("success", np.zeros(args.envs, bool)).astype(bool)
        curriculum.after(terminated | truncated, won)
        if step % 500 == 0 or step == args.steps:
            print(f"step {step}: mean level {curriculum.levels.mean():.2f} of {LEVELS}")


if __name__ == "__main__":
    main()
