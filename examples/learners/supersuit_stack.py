"""SuperSuit's wrappers around a single environment, and what Stable-Baselines3's PPO learns from it.

    python examples/learners/supersuit_stack.py --steps 100000

A native batch needs none of this, and is many times as fast: `<observe ... history="4">` of an environment file stacks
observations.
"""

from __future__ import annotations

import argparse
from typing import Any

import gymnasium as gym
import supersuit
import torch
from stable_baselines3 import PPO

import mvsim_gym


def make(env: str) -> gym.Env[Any, Any]:
    """Clipped actions, and the last four observations side by side, within [0, 1]."""
    return supersuit.frame_stack_v2(
        supersuit.normalize_obs_v0(supersuit.clip_actions_v0(gym.make(mvsim_gym.spec(env, flatten=True)))), 4
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--env", default="mvsim/NavArena-v0")
    parser.add_argument("--steps", type=int, default=100_000)
    args = parser.parse_args()
    torch.set_num_threads(1)  # for networks this small more threads wait for each other: docs/training.md
    env = make(args.env)
    print(env.observation_space)
    PPO("MlpPolicy", env, n_steps=512, batch_size=512, device="cpu", verbose=1).learn(args.steps)


if __name__ == "__main__":
    main()
