"""PPO of RLlib (new API stack): one native batch an env runner.

python examples/learners/rllib_ppo.py --steps 1000000 --runners 1
"""

from __future__ import annotations

import argparse

import ray
import torch
from ray.rllib.algorithms.ppo import PPOConfig

import mvsim_gym


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--env", default="mvsim/NavArena-v0")
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--num-envs", type=int, default=64)
    parser.add_argument(
        "--runners", type=int, default=0, help="processes that sample; 0: the one that learns"
    )
    args = parser.parse_args()
    torch.set_num_threads(1)  # for networks this small more threads wait for each other: docs/training.md
    ray.init(include_dashboard=False, log_to_driver=False)
    batch = 128 * args.num_envs * max(args.runners, 1)
    config = (
        PPOConfig()
        .environment(mvsim_gym.rllib.register(args.env), normalize_actions=False, clip_actions=False)
        .env_runners(
            num_env_runners=args.runners,
            num_envs_per_env_runner=args.num_envs,
            gym_env_vectorize_mode="vector_entry_point",
        )
        .training(train_batch_size_per_learner=batch, minibatch_size=min(4096, batch), num_epochs=5, lr=1e-3)
        .debugging(seed=0)
    )
    algorithm = config.build_algo()
    steps = 0
    while steps < args.steps:
        result = algorithm.train()
        steps = result["num_env_steps_sampled_lifetime"]
        print(
            f"{steps:>10,.0f} steps   return {result['env_runners'].get('episode_return_mean', 0):7.2f}",
            flush=True,
        )
    algorithm.stop()
    ray.shutdown()


if __name__ == "__main__":
    main()
