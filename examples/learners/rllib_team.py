"""PPO of RLlib (new API stack) for several agents: a policy for each, or one for all of them.

    python examples/learners/rllib_team.py --steps 1000000
    python examples/learners/rllib_team.py --policies each

RLlib steps the worlds of a runner one by one. Where one policy is enough, `mvsim_gym.rllib.register` with
`on_end="respawn"` makes every robot a row of one native batch, as rllib_ppo.py has it, and is many times as fast.
"""

from __future__ import annotations

import argparse

import ray
from ray.rllib.algorithms.ppo import PPOConfig

import mvsim_gym


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--env", default="mvsim/MultiNav-v0")
    parser.add_argument("--steps", type=int, default=1_000_000, help="of worlds")
    parser.add_argument("--num-envs", type=int, default=16, help="worlds")
    parser.add_argument("--policies", choices=("one", "each"), default="one")
    args = parser.parse_args()
    ray.init(include_dashboard=False, log_to_driver=False)
    name = mvsim_gym.rllib.register_team(args.env)
    agents = mvsim_gym.rllib.TeamEnv(args.env).possible_agents
    policy_of = {agent: agent if args.policies == "each" else "all" for agent in agents}
    batch = 128 * args.num_envs
    config = (
        PPOConfig()
        .environment(name, normalize_actions=False, clip_actions=False)
        .env_runners(num_env_runners=0, num_envs_per_env_runner=args.num_envs)
        .multi_agent(
            policies=set(policy_of.values()),
            policy_mapping_fn=lambda agent, *_, **__: policy_of[agent],
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
