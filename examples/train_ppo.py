"""The main job: PPO of Stable-Baselines3 learns to reach goals, then is compared with scripted baselines.

    python examples/train_ppo.py                                   # NavArena, a few minutes on two cores
    python examples/train_ppo.py --env mvsim/NavMap-v0 --seed 1
    python examples/train_ppo.py --env mvsim/MultiNav-v0           # several agents, one policy
    python examples/train_ppo.py --env my_task.env.xml

Writes into runs/<env>-seed<seed>/: metrics.json, learning_curve.png, episode.mp4 (or episode.gif), a TensorBoard log,
model.zip (the policy that did best in the evaluations so far) and last.zip (the latest). Ctrl-C and SIGTERM end the run
and leave both.
"""

from __future__ import annotations

import argparse
import ctypes
import dataclasses
import importlib.util
import json
import pathlib
import platform
import signal
import sys
import time
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from baselines import policies
from evaluation import FINAL_SEEDS, HELD_OUT_SEEDS, table
from networks import network_for
from progress import GOOD, Progress
from recipes import Recipe, merged, recipe_of
from report import file_name, plot_learning_curve, record_episode
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecEnv, VecEnvWrapper
from task import Task
from team_evaluation import team_table

from mvsim_gym.sb3 import MVSimVecEnv


def keep_freed_memory() -> None:
    """Has the C library (glibc) keep the memory of tensors that are gone. It would give that of large ones, minibatches
    of pictures, back and map and clear pages anew for the next: two fifths of the time of an update from pictures."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(-4, 0)  # M_MMAP_MAX
        mallopt(-1, 2**31 - 1)  # M_TRIM_THRESHOLD, bytes


class TimedReward(VecEnvWrapper):
    """Scales rewards and adds up the wall time spent in the simulator."""

    def __init__(self, venv: VecEnv, scale: float):
        super().__init__(venv)
        self.scale, self.seconds = scale, 0.0

    def reset(self) -> Any:
        return self.venv.reset()

    def step_async(self, actions: np.ndarray) -> None:
        self._started = time.perf_counter()
        self.venv.step_async(actions)

    def step_wait(self) -> Any:
        observation, reward, done, info = self.venv.step_wait()
        self.seconds += time.perf_counter() - self._started
        return observation, self.scale * reward, done, info


def train(args: argparse.Namespace, task: Task, recipe: Recipe, out: pathlib.Path, progress: Progress) -> PPO:
    """PPO, with the weights that did best in the evaluations of `progress`."""
    keywords = merged(recipe.keywords, recipe.learning_keywords)
    venv = TimedReward(
        MVSimVecEnv(args.env, num_envs=recipe.num_envs, num_threads=args.threads, **keywords),
        recipe.reward_scale,
    )
    venv.seed(args.seed * recipe.num_envs)
    first, last = recipe.learning_rate, recipe.last_learning_rate
    policy, network = network_for(task.flat(), recipe)
    model = PPO(
        policy,
        venv,
        learning_rate=lambda left: last + (first - last) * left,
        n_steps=recipe.n_steps,
        batch_size=min(recipe.batch_size, recipe.n_steps * recipe.num_envs),
        n_epochs=recipe.n_epochs,
        gamma=recipe.gamma,
        gae_lambda=recipe.gae_lambda,
        clip_range=recipe.clip_range,
        ent_coef=recipe.ent_coef,
        policy_kwargs={
            **network,
            "log_std_init": recipe.log_std,
            "optimizer_kwargs": {"eps": 1e-5, "fused": True},
        },
        tensorboard_log=str(out),
        seed=args.seed,
        device="cpu",
    )
    model.env_keywords = task.keywords  # saved with it: what the tools make its environments with
    try:
        model.learn(recipe.steps, callback=progress, tb_log_name="tensorboard", log_interval=1)
        progress.check()
    finally:
        progress.simulator_seconds = venv.seconds
        venv.close()
    model.set_parameters(str(out / "model.zip"), device="cpu")
    return model


def training_metrics(progress: Progress, args: argparse.Namespace) -> dict[str, Any]:
    """What is known of a training, finished or not."""
    seconds = max(getattr(progress, "seconds", None) or progress.training_seconds(), 1e-9)
    steps = progress.num_timesteps
    reached = next((h for h in progress.history if h["success"] >= GOOD), {"seconds": None, "steps": None})
    return {
        "env": args.env,
        "seed": args.seed,
        "steps": steps,
        "best_steps": progress.best_steps,
        "training_seconds": seconds,
        "processor_seconds": getattr(progress, "busy", None) or progress.processor_seconds(),
        "seconds_to_95": reached["seconds"],
        "steps_to_95": reached["steps"],
        "keywords": progress.task.keywords,
        "env_steps_per_second": steps / seconds,
        "simulator_steps_per_second": steps / max(progress.simulator_seconds, 1e-9),
        "learner_share": 1 - progress.simulator_seconds / seconds,
        "history": progress.history,
        "baselines": {},
        "machine": {
            "cpu": cpu_name(),
            "threads": torch.get_num_threads(),
            "python": platform.python_version(),
        },
    }


def write(metrics: dict[str, Any], out: pathlib.Path) -> None:
    """metrics.json and learning_curve.png."""
    (out / "metrics.json").write_text(json.dumps(metrics, indent=1) + "\n")
    if metrics["history"]:
        plot_learning_curve(metrics, out / "learning_curve.png")


def run(args: argparse.Namespace, recipe: Recipe, out: pathlib.Path, progress: Progress) -> None:
    task = progress.task
    model = train(args, task, recipe, out, progress)
    seeds = FINAL_SEEDS[: args.episodes]
    policy = task.greedy_policy(model)
    record = {"record": args.record} if args.record else {}
    rows = {"PPO": task.evaluate(policy, seeds, spl=True, title="final evaluation of PPO", **record)}
    scripted = Task(args.env, num_threads=args.threads)  # the environment as it is
    for name, drive in ({} if args.no_baselines else policies(args.env)).items():
        rows[name] = scripted.evaluate(drive, seeds, spl=True, title=f"final evaluation of {name}")
    metrics = {**training_metrics(progress, args), **rows["PPO"]}
    metrics["baselines"] = {name: row for name, row in rows.items() if name != "PPO"}
    write(metrics, out)
    print(f"\n{args.env}, {len(seeds)} held-out episodes\n\n{table(rows)}\n")
    if task.agents > 1:
        print(f"{team_table(rows)}\n")
    to_95 = metrics["seconds_to_95"]
    print(
        f"{metrics['steps']:,} steps in {metrics['training_seconds']:.1f} s "
        f"({metrics['env_steps_per_second']:,.0f} steps/s, {100 * metrics['learner_share']:.0f} % of it the learner); "
        + (f"95 % success after {to_95:.1f} s" if to_95 is not None else "95 % success not reached")
    )
    files = ["metrics.json", "learning_curve.png", "model.zip (the best policy)", "last.zip (the last one)"]
    if progress.film:
        try:
            files.append(record_episode(args.env, policy, out, **task.keywords).name)
        except RuntimeError as error:
            print(f"no film: {error}")
    print(f"wrote {out}/{', '.join(files)}")


def main() -> None:
    args = arguments()
    needed = ["matplotlib", "imageio", *(["mcap", "rosbags"] if args.record else [])]
    missing = [name for name in needed if importlib.util.find_spec(name) is None]
    if missing:
        sys.exit(f"train_ppo.py needs {' and '.join(missing)}: pip install {' '.join(missing)}")
    recipe = recipe_of(args.env)
    chosen = {"steps": args.steps, "num_envs": args.num_envs}
    recipe = dataclasses.replace(recipe, **{name: value for name, value in chosen.items() if value})
    task = Task(args.env, recipe.keywords, args.threads)
    try:
        agents = task.agents
        names = ["PPO", *([] if args.no_baselines else policies(args.env))]
    except (ValueError, TypeError, OSError, ImportError, gym.error.Error) as error:
        sys.exit(f"--env {args.env}: {error}")
    if recipe.num_envs % agents:
        sys.exit(
            f"--num-envs: found {recipe.num_envs}, expected a multiple of {agents}, the agents of a world"
        )
    if args.record and agents > 1:
        sys.exit("--record: found an environment of several agents, expected one of one agent")
    film = not args.no_video and agents == 1
    out = args.out or pathlib.Path("runs") / f"{file_name(args.env)}-seed{args.seed}"
    out.mkdir(parents=True, exist_ok=True)
    keep_freed_memory()
    torch.set_num_threads(1)  # for networks this small more threads wait for each other: docs/training.md
    print(
        f"{args.env}: {recipe.steps:,} steps, then {args.episodes} episodes each of {', '.join(names)}"
        + (" and a film" if film else "")
        + f", into {out}; how long it takes is said after the first updates",
        flush=True,
    )
    progress = Progress(task, recipe, out, args.episodes, len(names), film)
    signal.signal(signal.SIGTERM, stop)
    try:
        run(args, recipe, out, progress)
    except KeyboardInterrupt as stopped:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # what follows is short and should be whole
        sys.exit(leave(progress, args, out, stopped))


def stop(number: int, frame: object) -> None:
    raise KeyboardInterrupt(number)


def leave(progress: Progress, args: argparse.Namespace, out: pathlib.Path, stopped: KeyboardInterrupt) -> int:
    """Keep what there is of an interrupted run, and say where. Returns the exit status."""
    if hasattr(progress, "bar"):
        progress.bar.close()
    if progress.history:
        if not hasattr(progress, "seconds"):  # in the middle of training
            progress.save_last()
        write({**training_metrics(progress, args), "interrupted": True}, out)
        print(
            f"\nstopped at step {progress.num_timesteps:,}: {out}/model.zip is the best policy so far "
            f"({100 * progress.best_success:.1f} % success, step {progress.best_steps:,}), last.zip the latest"
        )
    else:
        print("\nstopped before the first evaluation: there is no model yet")
    return 128 + (stopped.args[0] if stopped.args else signal.SIGINT)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--env",
        default="mvsim/NavArena-v0",
        help="id (ns/Name-v0, module:ns/Name-v0) or path of an environment file",
    )
    parser.add_argument("--steps", type=count, help="environment steps (default: what the environment needs)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--num-envs", type=count, help="of the rollouts (default: those of the recipe)")
    parser.add_argument(
        "--threads",
        type=int,
        default=0,
        help="of the environments (default: as many as there are processors)",
    )
    max_episodes = len(FINAL_SEEDS)
    parser.add_argument(
        "--episodes",
        type=count,
        default=len(HELD_OUT_SEEDS),
        help=f"of the final evaluation (default {len(HELD_OUT_SEEDS)}, at most {max_episodes:,})",
    )
    parser.add_argument(
        "--record",
        type=pathlib.Path,
        metavar="FILE.mcap",
        help="record PPO's episodes of the final evaluation, for mvsim-gym play",
    )
    parser.add_argument("--out", type=pathlib.Path, help="output folder (default runs/<env>-seed<seed>)")
    parser.add_argument("--no-baselines", action="store_true", help="leave the scripted baselines out")
    parser.add_argument("--no-video", action="store_true", help="leave the film of an episode out")
    args = parser.parse_args()
    if args.record and not args.record.absolute().parent.is_dir():
        parser.error(f"--record {args.record}: there is no folder {args.record.parent}")
    if args.episodes > max_episodes:
        parser.error(f"--episodes {args.episodes}: at most {max_episodes}, the number of held-out seeds")
    return args


def count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"found {value}, expected at least 1")
    return value


def cpu_name() -> str:
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


if __name__ == "__main__":
    main()
