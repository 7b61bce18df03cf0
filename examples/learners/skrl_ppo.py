"""PPO of skrl on a native batch.

python examples/learners/skrl_ppo.py --steps 1000000
"""

from __future__ import annotations

import argparse
import tempfile
from typing import Any

import gymnasium as gym
import torch
from skrl.agents.torch.ppo import PPO
from skrl.envs.wrappers.torch import wrap_env
from skrl.memories.torch import RandomMemory
from skrl.models.torch import DeterministicMixin, GaussianMixin, Model
from skrl.trainers.torch import SequentialTrainer
from skrl.utils import set_seed
from torch import nn

import mvsim_gym


def network(inputs: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(inputs, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, outputs)
    )


class Policy(GaussianMixin, Model):
    def __init__(self, **spaces: Any) -> None:
        Model.__init__(self, **spaces)
        GaussianMixin.__init__(self)
        self.net = network(self.num_observations, self.num_actions)
        self.log_std = nn.Parameter(torch.zeros(self.num_actions))

    def compute(self, inputs: dict[str, Any], role: str = "") -> Any:
        return self.net(inputs["observations"]), {"log_std": self.log_std}


class Value(DeterministicMixin, Model):
    def __init__(self, **spaces: Any) -> None:
        Model.__init__(self, **spaces)
        DeterministicMixin.__init__(self)
        self.net = network(self.num_observations, 1)

    def compute(self, inputs: dict[str, Any], role: str = "") -> Any:
        return self.net(inputs["observations"]), {}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--env", default="mvsim/NavArena-v0")
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--num-envs", type=int, default=64)
    args = parser.parse_args()
    torch.set_num_threads(1)  # for networks this small more threads wait for each other: docs/training.md
    set_seed(0)
    # SameStep: skrl would learn from the steps that only reset in the mode NextStep
    spec = mvsim_gym.spec(args.env, autoreset_mode="SameStep", flatten=True)
    envs = gym.wrappers.vector.ClipAction(gym.make_vec(spec, num_envs=args.num_envs))
    env = wrap_env(envs, wrapper="gymnasium")
    spaces = {"observation_space": env.observation_space, "action_space": env.action_space, "device": "cpu"}
    rollout = 128
    with tempfile.TemporaryDirectory() as folder:
        agent = PPO(
            models={"policy": Policy(**spaces), "value": Value(**spaces)},
            memory=RandomMemory(memory_size=rollout, num_envs=args.num_envs, device="cpu"),
            cfg={
                "rollouts": rollout,
                "learning_epochs": 5,
                "mini_batches": max(1, rollout * args.num_envs // 4096),
                "learning_rate": 1e-3,
                "entropy_loss_scale": 0.002,
                "rewards_shaper": lambda rewards, *_: 0.2 * rewards,
                "time_limit_bootstrap": True,
                "experiment": {"directory": folder, "write_interval": 0, "checkpoint_interval": 0},
            },
            **spaces,
        )
        steps = max(1, args.steps // (rollout * args.num_envs)) * rollout
        trainer = SequentialTrainer(env=env, agents=agent, cfg={"timesteps": steps, "headless": True})
        trainer.train()
    print(f"{steps * args.num_envs:,} steps")


if __name__ == "__main__":
    main()
