"""PPO in one file, on `gymnasium.make_vec`: PyTorch, no learning library, hyperparameters of the default recipe.

    python examples/ppo.py                                         # NavArena, 2,000,000 steps
    python examples/ppo.py --env mvsim/OffRoad-v0 --steps 1000000 --seed 1 --out policy.pt

It shows steps per second, success rate and return while it learns, and ends with 500 held-out episodes. It is
fast for three reasons: the envs write their observations into the rollout's memory (`out=`), only the actor runs in a
step, and the critic sees the whole rollout at once.
"""

from __future__ import annotations

import argparse
import time
from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
import torch
from evaluation import HELD_OUT_SEEDS, Policy, evaluate, table
from torch import Tensor, nn

import mvsim_gym

N_STEPS = 128  # of each env in a rollout
BATCH_SIZE = 4096
EPOCHS = 5
GAMMA = 0.99
GAE_LAMBDA = 0.95
CLIP = 0.2
ENTROPY = 0.002
VALUE = 0.5
MAX_NORM = 0.5
LEARNING_RATE = 1e-3
REWARD_SCALE = 0.2


def network(inputs: int, outputs: int, gain: float) -> nn.Sequential:
    """Two hidden layers of 64, orthogonal weights."""
    layers = [nn.Linear(inputs, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, outputs)]
    for layer, scale in zip(layers[::2], (2**0.5, 2**0.5, gain), strict=True):
        nn.init.orthogonal_(layer.weight, scale)  # type: ignore[arg-type]
        nn.init.zeros_(layer.bias)  # type: ignore[arg-type]
    return nn.Sequential(*layers)


class Agent(nn.Module):
    """A Gaussian over actions whose deviation does not depend on what is seen, and a value."""

    def __init__(self, observations: gym.spaces.Box, actions: int):
        super().__init__()
        low, high = torch.from_numpy(observations.low), torch.from_numpy(observations.high)
        scale = 2 / torch.where(high > low, high - low, 1.0)
        self.register_buffer("scale", scale)
        self.register_buffer("offset", -1 - low * scale)
        self.actor = network(len(low), actions, 0.01)
        self.critic = network(len(low), 1, 1.0)
        self.log_std = nn.Parameter(torch.zeros(actions))

    def scaled(self, observations: Tensor) -> Tensor:
        """By the bounds of the space to [-1, 1]."""
        return observations * self.scale + self.offset

    def log_prob(self, noise: Tensor) -> Tensor:
        """Returns the log probability of actions from their noise: deviations from the mean, in standard deviations."""
        return -(0.5 * noise.square() + self.log_std + 0.5 * np.log(2 * np.pi)).sum(-1)


class Rollout(NamedTuple):
    """Scaled observations, actions, and what the updates need of them; a row a step of an env."""

    observations: Tensor
    actions: Tensor
    log_probs: Tensor
    advantages: Tensor
    returns: Tensor


class Collector:
    """Plays `N_STEPS` of every env at a time, and keeps the figures of the last episodes."""

    def __init__(self, envs: Any, agent: Agent, seed: int):
        self.envs, self.agent = envs, agent
        n = envs.num_envs
        self.observations = np.zeros((N_STEPS + 1, *envs.observation_space.shape), np.float32)
        self.rewards = np.zeros((N_STEPS, n), np.float32)
        self.done = np.zeros((N_STEPS, n), np.float32)
        envs.reset(seed=seed, out=self.observations[-1])
        self.running = np.zeros(n)  # return of the episode so far
        self.returns: deque[float] = deque(maxlen=200)
        self.successes: deque[float] = deque(maxlen=200)

    @torch.no_grad()
    def play(self) -> Rollout:
        agent, std = self.agent, self.agent.log_std.exp()
        noise = torch.randn(N_STEPS, *self.envs.action_space.shape)
        actions = torch.empty_like(noise)
        cut: list[tuple[int, int]] = []  # step and env of episodes that a time limit ended,
        cut_at: list[np.ndarray] = []  # and what was seen then
        self.observations[0] = self.observations[-1]
        seen = torch.from_numpy(self.observations)
        for t in range(N_STEPS):
            actions[t] = agent.actor(agent.scaled(seen[t])) + std * noise[t]
            step = self.envs.step(actions[t].clamp(-1, 1).numpy(), out=self.observations[t + 1])
            _, self.rewards[t], terminated, truncated, infos = step
            self.running += self.rewards[t]
            self.done[t] = ended = terminated | truncated
            if ended.any():
                self.count(ended, infos["final_info"]["success"])
                for i in (truncated & ~terminated).nonzero()[0]:
                    cut.append((t, i))
                    cut_at.append(infos["final_obs"][i])
        scaled = agent.scaled(seen)
        values = agent.critic(scaled).squeeze(-1)
        rewards, going_on = REWARD_SCALE * torch.from_numpy(self.rewards), 1 - torch.from_numpy(self.done)
        if cut:  # these episodes would have gone on
            rest = agent.critic(agent.scaled(torch.from_numpy(np.stack(cut_at)))).squeeze(-1)
            rewards[tuple(np.transpose(cut))] += GAMMA * rest
        advantages, following = torch.empty_like(rewards), torch.zeros_like(rewards[0])
        errors = rewards + GAMMA * values[1:] * going_on - values[:-1]
        for t in reversed(range(N_STEPS)):
            following = errors[t] + GAMMA * GAE_LAMBDA * going_on[t] * following
            advantages[t] = following
        parts = (scaled[:-1], actions, agent.log_prob(noise), advantages, advantages + values[:-1])
        return Rollout(*(part.flatten(0, 1) for part in parts))

    def count(self, ended: np.ndarray, success: np.ndarray) -> None:
        self.returns.extend(self.running[ended])
        self.successes.extend(success[ended])
        self.running[ended] = 0


def minibatches(rollout: Rollout) -> Iterator[Rollout]:
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(rollout.returns)).split(BATCH_SIZE):
            yield Rollout(*(part[rows] for part in rollout))


def update(agent: Agent, optimizer: torch.optim.Optimizer, rollout: Rollout) -> None:
    for batch in minibatches(rollout):
        advantages = (batch.advantages - batch.advantages.mean()) / (batch.advantages.std() + 1e-8)
        noise = (batch.actions - agent.actor(batch.observations)) * (-agent.log_std).exp()
        ratio = (agent.log_prob(noise) - batch.log_probs).exp()
        clipped = ratio.clamp(1 - CLIP, 1 + CLIP)
        policy_loss = -torch.min(ratio * advantages, clipped * advantages).mean()
        value_loss = nn.functional.mse_loss(agent.critic(batch.observations).squeeze(-1), batch.returns)
        # the entropy of a Gaussian, but for a constant, is the logarithm of its deviation
        loss = policy_loss + VALUE * value_loss - ENTROPY * agent.log_std.sum()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(agent.parameters(), MAX_NORM)
        optimizer.step()


def optimizer_of(agent: Agent) -> torch.optim.Optimizer:
    return torch.optim.Adam(agent.parameters(), LEARNING_RATE, eps=1e-5, fused=True)


def train(env: str, steps: int, num_envs: int = 64, seed: int = 0) -> Agent:
    """Learns, and says every few seconds how far it is."""
    torch.manual_seed(seed)
    envs = gym.make_vec(
        mvsim_gym.spec(env, autoreset_mode="SameStep", flatten=True, copy=False), num_envs=num_envs
    ).unwrapped
    agent = Agent(envs.single_observation_space, envs.action_space.shape[1])
    collector = Collector(envs, agent, seed * num_envs)
    optimizer = optimizer_of(agent)
    began = said = time.perf_counter()
    done = 0
    while done < steps:
        optimizer.param_groups[0]["lr"] = LEARNING_RATE * (0.03 + 0.97 * (1 - done / steps))
        update(agent, optimizer, collector.play())
        done += N_STEPS * num_envs
        now = time.perf_counter()
        if now - said > 3 or done >= steps:
            said = now
            print(
                f"{done:>10,} steps {done / (now - began):>8,.0f} steps/s"
                f"   success {100 * mean(collector.successes):5.1f} %   return {mean(collector.returns):7.2f}",
                flush=True,
            )
    envs.close()
    return agent


def mean(values: deque[float]) -> float:
    return float(np.mean(values)) if values else float("nan")


def greedy_policy(agent: Agent) -> Policy:
    """The mean of the actions for dict observations, as `evaluate` wants it."""

    @torch.no_grad()
    def act(observation: dict[str, np.ndarray]) -> np.ndarray:
        flat = np.concatenate([observation[key] for key in sorted(observation)], axis=-1)
        return np.asarray(agent.actor(agent.scaled(torch.from_numpy(flat))).clamp(-1, 1))

    return act


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--env", default="mvsim/NavArena-v0", help="id or path of an environment file")
    parser.add_argument("--steps", type=int, default=2_000_000)
    parser.add_argument("--num-envs", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--episodes", type=int, default=500, help="of the evaluation, at most 500")
    parser.add_argument("--out", help="a file for the policy's weights")
    args = parser.parse_args()
    torch.set_num_threads(1)  # for networks this small more threads wait for each other: docs/training.md
    agent = train(args.env, args.steps, args.num_envs, args.seed)
    if args.out:
        torch.save(agent.state_dict(), args.out)
    print(table({"PPO": evaluate(args.env, greedy_policy(agent), HELD_OUT_SEEDS[: args.episodes])}))


if __name__ == "__main__":
    main()
