"""RLlib on a Ray cluster: PPO on NavArena, with env runners of 64 native envs on every node.

    python examples/train_cluster.py                                # two nodes on this machine
    python examples/train_cluster.py --address auto --runners 100 --cpus 4    # a cluster that runs

It names every env runner with its node, process and threads, and shows steps, success rate and return. A runner that is
lost is started anew, and the training goes on. Runner k draws its episodes from seeds of its own, which follow from
--seed: the same ones in every run.
"""

from __future__ import annotations

import argparse
import os
import time
from typing import Any

import ray
from ray.cluster_utils import Cluster
from ray.rllib.algorithms.algorithm import Algorithm
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig

import mvsim_gym

ROLLOUT = 128  # steps of each env between two updates


def success(*, episode: Any, metrics_logger: Any, **_: Any) -> None:
    """Called by RLlib at the end of an episode."""
    metrics_logger.log_value("success", float(episode.get_infos(-1)["success"]), window=200)


def configuration(args: argparse.Namespace) -> PPOConfig:
    batch = ROLLOUT * args.num_envs * args.runners
    return (
        PPOConfig()
        .environment(mvsim_gym.rllib.register(args.env), normalize_actions=False, clip_actions=False)
        .env_runners(
            num_env_runners=args.runners,
            num_cpus_per_env_runner=args.cpus,  # and as many threads
            num_envs_per_env_runner=args.num_envs,
            gym_env_vectorize_mode="vector_entry_point",
            rollout_fragment_length=ROLLOUT,
        )
        .training(
            train_batch_size_per_learner=batch,
            minibatch_size=min(4096, batch),
            num_epochs=5,
            lr=1e-3,
            gamma=0.99,
            lambda_=0.95,
            entropy_coeff=0.002,
            use_kl_loss=False,
            vf_clip_param=1000.0,
        )
        .rl_module(model_config=DefaultModelConfig(fcnet_hiddens=[64, 64], vf_share_layers=False))
        .fault_tolerance(restart_failed_env_runners=True)
        .callbacks(on_episode_end=success)
        .debugging(seed=args.seed, log_level="ERROR")
    )


def of_runner(runner: Any) -> str:
    """Called in the process of an env runner."""
    node = ray.get_runtime_context().get_node_id()[:8]
    envs = runner.env.unwrapped
    return (
        f"env runner {runner.worker_index}: node {node}, process {os.getpid()}, {envs.num_envs} envs, "
        f"{envs.num_threads} threads"
    )


def train(algorithm: Algorithm, steps: int) -> None:
    began, done = time.perf_counter(), 0
    while done < steps:
        found = algorithm.train()
        done = int(found["num_env_steps_sampled_lifetime"])
        runners = found["env_runners"]
        print(
            f"{done:>10,} steps {done / (time.perf_counter() - began):>8,.0f} steps/s"
            f"   success {100 * runners.get('success', 0):5.1f} %"
            f"   return {runners.get('episode_return_mean', float('nan')):7.2f}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--env", default="mvsim/NavArena-v0", help="id, or a file that all nodes have")
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--runners", type=int, default=2, help="env runners")
    parser.add_argument("--cpus", type=int, default=1, help="processors and threads of an env runner")
    parser.add_argument("--num-envs", type=int, default=64, help="envs of an env runner")
    parser.add_argument("--address", help="of a Ray cluster; without it two nodes are started here")
    args = parser.parse_args()
    cluster = None
    if args.address is None:
        # a runner each, or half of them, wherever they find processors
        each = {"num_cpus": args.cpus * ((args.runners + 1) // 2)}
        cluster = Cluster(initialize_head=True, head_node_args={**each, "include_dashboard": False})
        cluster.add_node(**each)
    ray.init(address=args.address or cluster.address, log_to_driver=False)  # type: ignore[union-attr]
    algorithm = configuration(args).build_algo()
    try:
        group = algorithm.env_runner_group
        for line in group.foreach_env_runner(of_runner, local_env_runner=False):
            print(line, flush=True)
        train(algorithm, args.steps)
    finally:
        algorithm.stop()
        ray.shutdown()
        if cluster is not None:
            cluster.shutdown()


if __name__ == "__main__":
    main()
