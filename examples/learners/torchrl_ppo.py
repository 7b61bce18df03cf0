"""PPO of TorchRL on a native batch.

python examples/learners/torchrl_ppo.py --steps 1000000
"""

from __future__ import annotations

import argparse

import gymnasium as gym
import torch
from tensordict.nn import NormalParamExtractor, TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs import GymWrapper
from torchrl.modules import ProbabilisticActor, TanhNormal, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

import mvsim_gym


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--env", default="mvsim/NavArena-v0")
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--num-envs", type=int, default=64)
    args = parser.parse_args()
    torch.set_num_threads(1)  # for networks this small more threads wait for each other: docs/training.md
    torch.manual_seed(0)
    # TorchRL takes "SameStep" and "Disabled", and finds the last observations of episodes itself
    spec = mvsim_gym.spec(args.env, autoreset_mode="SameStep", flatten=True)
    env = GymWrapper(gym.make_vec(spec, num_envs=args.num_envs))
    env.set_seed(0)
    seen, actions = env.observation_spec["observation"].shape[-1], env.action_spec.shape[-1]

    def network(outputs: int) -> list[nn.Module]:
        return [nn.Linear(seen, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, outputs)]

    mean = nn.Sequential(*network(2 * actions), NormalParamExtractor())
    actor = ProbabilisticActor(
        TensorDictModule(mean, ["observation"], ["loc", "scale"]),
        in_keys=["loc", "scale"],
        distribution_class=TanhNormal,
        return_log_prob=True,
    )
    critic = ValueOperator(nn.Sequential(*network(1)))
    loss_of = ClipPPOLoss(actor, critic, entropy_coeff=0.002)
    advantage = GAE(gamma=0.99, lmbda=0.95, value_network=critic)
    optimizer = torch.optim.Adam(loss_of.parameters(), 1e-3)
    rollout = 128 * args.num_envs
    done = 0
    collector = Collector(
        env,
        actor,
        frames_per_batch=rollout,
        total_frames=max(args.steps, rollout),
        auto_register_policy_transforms=True,
    )
    for data in collector:
        data["next", "reward"] *= 0.2
        with torch.no_grad():
            advantage(data)
        flat = data.reshape(-1)
        for _ in range(5):
            for rows in torch.randperm(len(flat)).split(4096):
                losses = loss_of(flat[rows])
                loss = losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(loss_of.parameters(), 0.5)
                optimizer.step()
        done += len(flat)
        print(f"{done:>10,} steps   reward {5 * float(data['next', 'reward'].mean()):7.3f}", flush=True)
    collector.shutdown()


if __name__ == "__main__":
    main()
