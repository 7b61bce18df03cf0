"""RLlib on a Ray cluster: PPO with the recipe of the environment, env runners of 64 native envs on every node.

    python examples/train_cluster.py                                # NavArena, two nodes on this machine
    python examples/train_cluster.py --address auto --runners 100 --cpus 4    # a cluster that runs

It names every env runner with its node, process and threads, and shows steps, success rate and return. A runner that is
lost is started anew, and the training goes on. Runner k draws its episodes from seeds of its own, which follow from
--seed: the same ones in every run. The evaluated policy is the running mean of the policies after each update, without
noise. It is evaluated on seeds of its own while it learns. At the end the best one is evaluated on the held-out seeds
and kept in the folder `model` of the run, runs/<env>-cluster-seed<seed>, with metrics.json beside it:
`RLModule.from_checkpoint("runs/NavArena-v0-cluster-seed0/model")`.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import pathlib
import shutil
import time
from typing import Any

import numpy as np
import ray
import torch
from evaluation import FINAL_SEEDS, HELD_OUT_SEEDS, Result, evaluate, table
from ray.cluster_utils import Cluster
from ray.rllib.algorithms.algorithm import Algorithm
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
from recipes import Recipe, merged, recipe_of
from report import file_name
from run_folder import new_folder, write_whole

import mvsim_gym

CHECK_SEEDS = range(2_000_000, 2_000_400)  # of no training and no final evaluation
GOOD = 0.95


def success(*, episode: Any, metrics_logger: Any, **_: Any) -> None:
    """Called by RLlib at the end of an episode."""
    metrics_logger.log_value("success", float(episode.get_infos(-1)["success"]), window=200)


def configuration(args: argparse.Namespace, recipe: Recipe) -> PPOConfig:
    batch = recipe.n_steps * args.num_envs * args.runners
    name = mvsim_gym.rllib.register(
        args.env,
        scaled=True,
        reward_scale=recipe.reward_scale,
        **merged(recipe.keywords, recipe.learning_keywords),
    )
    return (
        PPOConfig()
        .environment(name, normalize_actions=False, clip_actions=False)
        .env_runners(
            num_env_runners=args.runners,
            num_cpus_per_env_runner=args.cpus,  # and as many threads
            num_envs_per_env_runner=args.num_envs,
            gym_env_vectorize_mode="vector_entry_point",
            rollout_fragment_length=recipe.n_steps,
        )
        .training(
            train_batch_size_per_learner=batch,
            minibatch_size=min(recipe.batch_size, batch),
            num_epochs=recipe.n_epochs,
            lr=[[0, recipe.learning_rate], [max(args.steps, batch), recipe.last_learning_rate]],
            gamma=recipe.gamma,
            lambda_=recipe.gae_lambda,
            clip_param=recipe.clip_range,
            entropy_coeff=recipe.ent_coef,
            vf_loss_coeff=0.5,
            vf_clip_param=1000.0,
            use_kl_loss=False,
            grad_clip=0.5,
            grad_clip_by="global_norm",
        )
        .rl_module(
            model_config=DefaultModelConfig(
                fcnet_hiddens=list(recipe.net),
                fcnet_activation=recipe.activation.lower(),
                fcnet_kernel_initializer="orthogonal_",
                fcnet_kernel_initializer_kwargs={"gain": 2**0.5},
                vf_share_layers=False,
                free_log_std=True,  # a deviation that does not depend on what is seen
            )
        )
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


class Judge:
    """Keeps the running mean of the policy, and the best of it in the checks so far, on disk too."""

    def __init__(self, algorithm: Algorithm, env: str, recipe: Recipe, folder: pathlib.Path):
        self.algorithm, self.env, self.recipe, self.folder = algorithm, env, recipe, folder
        self.module = copy.deepcopy(algorithm.get_module())  # with the weights that are judged
        envs = mvsim_gym.VectorEnv(env, num_envs=1, **recipe.keywords)
        self.flat = mvsim_gym.rllib.FlatObservation(envs.single_observation_space)
        self.actions = envs.single_action_space.shape[0]
        envs.close()
        self.updates = 0
        self.mean: dict[str, np.ndarray] = {}
        self.best, self.best_success, self.best_steps = self.mean, -1.0, 0

    def take_mean(self) -> None:
        """The policy as it is joins the running mean; of the first ones it is their mean."""
        self.updates += 1
        share = max(1 - self.recipe.averaging, 1 / self.updates)
        for name, weight in self.algorithm.get_weights()[DEFAULT_MODULE_ID].items():
            mean = self.mean.get(name, np.zeros_like(weight))
            self.mean[name] = mean + np.float32(share) * (weight - mean)

    @torch.no_grad()
    def act(self, observation: dict[str, np.ndarray]) -> np.ndarray:
        out = self.module.forward_inference({Columns.OBS: torch.from_numpy(self.flat(observation))})
        return np.clip(out[Columns.ACTION_DIST_INPUTS][:, : self.actions].numpy(), -1, 1)

    def success_of(self, weights: dict[str, np.ndarray], seeds: Any, **options: Any) -> Result:
        own = self.module.state_dict()
        self.module.load_state_dict({name: torch.from_numpy(weights[name]) for name in own})
        return evaluate(self.env, self.act, seeds, **options, **self.recipe.keywords)

    def check(self, steps: int) -> float:
        rate = float(self.success_of(self.mean, CHECK_SEEDS, title="check")["success"])
        if rate >= self.best_success:
            self.best, self.best_success, self.best_steps = dict(self.mean), rate, steps
            self.keep()
        return rate

    def keep(self) -> None:
        """The module as it is judged, with its weights."""
        new, old, model = (self.folder / name for name in (".model.new", ".model.old", "model"))
        shutil.rmtree(new, ignore_errors=True)
        self.module.save_to_path(new.absolute())
        if model.exists():
            shutil.rmtree(old, ignore_errors=True)
            model.rename(old)
        new.rename(model)
        shutil.rmtree(old, ignore_errors=True)


def train(algorithm: Algorithm, judge: Judge, steps: int) -> None:
    began, done, next_check = time.perf_counter(), 0, judge.recipe.check_every
    good = False
    while done < steps:
        found = algorithm.train()
        judge.take_mean()
        done = int(found["num_env_steps_sampled_lifetime"])
        runners = found["env_runners"]
        seconds = time.perf_counter() - began
        print(
            f"{done:>10,} steps {done / seconds:>8,.0f} steps/s"
            f"   success {100 * runners.get('success', 0):5.1f} %"
            f"   return {runners.get('episode_return_mean', float('nan')) / judge.recipe.reward_scale:7.2f}",
            flush=True,
        )
        if done >= min(next_check, steps):
            next_check += judge.recipe.check_every
            rate = judge.check(done)
            minutes = (time.perf_counter() - began) / 60
            print(
                f"check after {minutes:.1f} min: {100 * rate:.1f} % of {len(CHECK_SEEDS)} other episodes succeed"
                + (f" ({100 * GOOD:.0f} % reached)" if rate >= GOOD and not good else ""),
                flush=True,
            )
            good |= rate >= GOOD


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--env", default="mvsim/NavArena-v0", help="id, or a file that all nodes have")
    parser.add_argument("--steps", type=int, help="default: what the recipe says, 1,000,000 at most")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--runners", type=int, default=2, help="env runners")
    parser.add_argument("--cpus", type=int, default=1, help="processors and threads of an env runner")
    parser.add_argument("--num-envs", type=int, default=64, help="envs of an env runner")
    parser.add_argument(
        "--episodes",
        type=int,
        default=len(HELD_OUT_SEEDS),
        help=f"of the evaluation at the end (default {len(HELD_OUT_SEEDS)}, at most {len(FINAL_SEEDS):,})",
    )
    parser.add_argument(
        "--out", type=pathlib.Path, help="output folder (default runs/<env>-cluster-seed<seed>)"
    )
    parser.add_argument("--address", help="of a Ray cluster; without it two nodes are started here")
    args = parser.parse_args()
    recipe = recipe_of(args.env)
    args.steps = args.steps or min(recipe.steps, 1_000_000)
    out = new_folder(args.out or pathlib.Path("runs") / f"{file_name(args.env)}-cluster-seed{args.seed}")
    torch.set_num_threads(1)  # of the learner, which is in this process: docs/training.md
    cluster = None
    if args.address is None:
        # a runner each, or half of them, wherever they find processors
        each = {"num_cpus": args.cpus * ((args.runners + 1) // 2)}
        cluster = Cluster(initialize_head=True, head_node_args={**each, "include_dashboard": False})
        cluster.add_node(**each)
    ray.init(address=args.address or cluster.address, log_to_driver=False)  # type: ignore[union-attr]
    algorithm = configuration(args, recipe).build_algo()
    try:
        group = algorithm.env_runner_group
        for line in group.foreach_env_runner(of_runner, local_env_runner=False):
            print(line, flush=True)
        judge = Judge(algorithm, args.env, recipe, out)
        train(algorithm, judge, args.steps)
        row = judge.success_of(judge.best, FINAL_SEEDS[: args.episodes], title="final evaluation")
        print(
            f"\n{args.env}, {row['episodes']} held-out episodes of the policy that did best in the checks\n"
        )
        print(table({"PPO": row}), flush=True)
        facts = {
            "env": args.env,
            "seed": args.seed,
            "best_steps": judge.best_steps,
            "keywords": recipe.keywords,
        }
        text = json.dumps({**facts, **row}, indent=1) + "\n"
        write_whole(out / "metrics.json", lambda file: file.write(text.encode()))
        print(f"\nwrote {out}/metrics.json, model (the best policy)", flush=True)
    finally:
        algorithm.stop()
        ray.shutdown()
        if cluster is not None:
            cluster.shutdown()


if __name__ == "__main__":
    main()
