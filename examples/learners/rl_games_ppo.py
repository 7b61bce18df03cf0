"""PPO of rl_games on a native batch.

python examples/learners/rl_games_ppo.py --steps 1000000
"""

from __future__ import annotations

import argparse
import tempfile
from typing import Any

import torch
from rl_games.torch_runner import Runner

import mvsim_gym


def parameters(name: str, steps: int, num_envs: int, folder: str) -> dict[str, Any]:
    """Returns the settings that rl_games otherwise reads from a file."""
    horizon = 128
    return {
        "seed": 0,
        "algo": {"name": "a2c_continuous"},
        "model": {"name": "continuous_a2c_logstd"},
        "network": {
            "name": "actor_critic",
            "separate": True,
            "space": {
                "continuous": {
                    "mu_activation": "None",
                    "sigma_activation": "None",
                    "mu_init": {"name": "default"},
                    "sigma_init": {"name": "const_initializer", "val": 0},
                    "fixed_sigma": True,
                }
            },
            "mlp": {"units": [64, 64], "activation": "tanh", "initializer": {"name": "default"}},
        },
        "config": {
            "name": "mvsim",
            "env_name": name,
            "train_dir": folder,
            "device": "cpu",
            "num_actors": num_envs,
            "horizon_length": horizon,
            "max_epochs": max(1, steps // (horizon * num_envs)),
            "minibatch_size": min(4096, horizon * num_envs),
            "mini_epochs": 5,
            "learning_rate": 1e-3,
            "lr_schedule": None,
            "gamma": 0.99,
            "tau": 0.95,
            "e_clip": 0.2,
            "entropy_coef": 0.002,
            "critic_coef": 1,
            "clip_value": False,
            "bounds_loss_coef": 0,
            "grad_norm": 0.5,
            "truncate_grads": True,
            "normalize_advantage": True,
            "normalize_input": True,
            "normalize_value": True,
            "value_bootstrap": True,
            "ppo": True,
            "torch_compile": False,
            "reward_shaper": {"scale_value": 0.2},
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--env", default="mvsim/NavArena-v0")
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--num-envs", type=int, default=64)
    args = parser.parse_args()
    torch.set_num_threads(1)  # for networks this small more threads wait for each other: docs/training.md
    name = mvsim_gym.rl_games.register(args.env, seed=0)
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner()
        runner.load({"params": parameters(name, args.steps, args.num_envs, folder)})
        runner.run_train({"train": True})


if __name__ == "__main__":
    main()
