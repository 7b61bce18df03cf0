"""The main job: PPO of Stable-Baselines3 learns to reach goals, then is compared with scripted baselines.

    python examples/train_ppo.py                                   # NavArena, a few minutes on two cores
    python examples/train_ppo.py --env mvsim/NavMap-v0 --seed 1
    python examples/train_ppo.py --env mvsim/MultiNav-v0           # several agents, one policy
    python examples/train_ppo.py --env my_task.env.xml --set time_limit=30
    python examples/train_ppo.py --resume runs/NavArena-v0-seed0   # goes on with a run that was ended

Writes into runs/<env>-seed<seed>/ (or <seed>-2 if that folder has a run already): metrics.json, learning_curve.png,
episode.mp4 (or episode.gif), a TensorBoard log, model.zip (the policy that did best in the evaluations so far),
last.zip (the latest) and checkpoint.pt, from which --resume continues. Ctrl-C and SIGTERM end the run and leave them.
"""

from __future__ import annotations

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

import checkpoints
import gymnasium as gym
import numpy as np
import torch
from baselines import policies
from evaluation import FINAL_SEEDS, table
from networks import network_for
from progress import GOOD, Progress
from recipes import Recipe, merged, read_recipe, recipe_of
from report import plot_learning_curve, record_episode
from run_folder import hold, new_folder
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecEnv, VecEnvWrapper
from task import Task
from team_evaluation import team_table
from train_options import Options, options_of

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


def train(args: Options, progress: Progress, state: checkpoints.State | None) -> PPO:
    """PPO, with the weights that did best in the evaluations of `progress`; from a checkpoint on, if there is one."""
    task, recipe, out = progress.task, progress.recipe, progress.folder
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
        learning_rate=lambda left: (
            last + (first - last) * max(left, 0)
        ),  # the last rollout may go beyond the end
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
    progress.venv, progress.resumed = venv, state
    done = model.num_timesteps = state["model"]["num_timesteps"] if state else 0
    try:
        if state and state["trained"]:
            progress.model = model
            checkpoints.put_back(progress, state)
            progress.seconds, progress.busy, _ = state["seconds"]
        else:
            model.learn(
                recipe.steps - done,
                callback=progress,
                tb_log_name="tensorboard",
                log_interval=1,
                reset_num_timesteps=state is None,
            )
            progress.check()
            checkpoints.save(progress, progress.options, trained=True)
    finally:
        venv.close()
    model.set_parameters(str(out / "model.zip"), device="cpu")
    return model


def training_metrics(progress: Progress, args: Options) -> dict[str, Any]:
    """Returns the metrics of a training, finished or not."""
    seconds, simulator = max(progress.training_seconds(), 1e-9), progress.venv.seconds
    steps = progress.model.num_timesteps
    reached = next((h for h in progress.history if h["success"] >= GOOD), {"seconds": None, "steps": None})
    return {
        "env": args.env,
        "seed": args.seed,
        "steps": steps,
        "best_steps": progress.best_steps,
        "training_seconds": seconds,
        "processor_seconds": progress.processor_seconds(),
        "seconds_to_95": reached["seconds"],
        "steps_to_95": reached["steps"],
        "keywords": progress.task.keywords,
        "env_steps_per_second": steps / seconds,
        "simulator_steps_per_second": steps / max(simulator, 1e-9),
        "learner_share": 1 - simulator / seconds,
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


def run(args: Options, progress: Progress, state: checkpoints.State | None) -> None:
    task, out = progress.task, progress.folder
    model = train(args, progress, state)
    seeds = FINAL_SEEDS[: args.episodes]
    policy = task.greedy_policy(model)
    record = {"record": args.record} if args.record else {}
    rows = {"PPO": task.evaluate(policy, seeds, spl=True, title="final evaluation of PPO", **record)}
    scripted = Task(args.env, args.settings, args.threads)  # the environment as it is, without the recipe
    for name, drive in scripts_for(args).items():
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


def scripts_for(args: Options) -> dict[str, Any]:
    """The scripted baselines, which know the environment's own robot, observations and actions."""
    known = args.settings.keys().isdisjoint({"action", "observe", "vehicle", "world"})
    return policies(args.env) if known and not args.no_baselines else {}


def recipe_for(args: Options) -> Recipe:
    """Returns the recipe of a new run, changed by the command line. Exits where its file cannot be read."""
    try:
        recipe = read_recipe(args.recipe) if args.recipe else recipe_of(args.env)
    except (OSError, ValueError) as error:
        sys.exit(f"--recipe: {error}" if args.recipe else str(error))
    chosen = {"steps": args.steps, "num_envs": args.num_envs}
    return dataclasses.replace(
        recipe,
        keywords=merged(recipe.keywords, args.settings),
        learning_keywords=merged(recipe.learning_keywords, args.settings),
        **{name: value for name, value in chosen.items() if value},
    )


def main() -> None:
    args, state = options_of(sys.argv[1:], __doc__)
    needed = ["matplotlib", "imageio", *(["mcap", "rosbags"] if args.record else [])]
    missing = [name for name in needed if importlib.util.find_spec(name) is None]
    if missing:
        sys.exit(f"train_ppo.py needs {' and '.join(missing)}: pip install {' '.join(missing)}")
    recipe = Recipe(**state["options"]["recipe"]) if state else recipe_for(args)
    task = Task(args.env, recipe.keywords, args.threads)
    try:
        agents = task.agents
        network_for(task.flat(), recipe)
        names = ["PPO", *scripts_for(args)]
    except (ValueError, TypeError, OSError, ImportError, gym.error.Error) as error:
        sys.exit(f"--env {args.env}: {error}")
    if recipe.num_envs % agents:
        sys.exit(
            f"--num-envs: found {recipe.num_envs}, expected a multiple of {agents}, the agents of a world"
        )
    if args.record and agents > 1:
        sys.exit("--record: found an environment of several agents, expected one of one agent")
    film = not args.no_video and agents == 1
    out = args.resume or new_folder(args.folder)
    try:
        hold(out)
    except BlockingIOError:
        sys.exit(f"{out}: another process trains there")
    keep_freed_memory()
    torch.set_num_threads(1)  # for networks this small more threads wait for each other: docs/training.md
    print(
        f"{args.env}: {recipe.steps:,} steps"
        + (f", from step {state['model']['num_timesteps']:,} on" if state else "")
        + f", then {args.episodes} episodes each of {', '.join(names)}"
        + (" and a film" if film else "")
        + f", into {out}"
        + ("" if state else "; how long it takes is said after the first updates"),
        flush=True,
    )
    options = {**args.kept(), "recipe": dataclasses.asdict(recipe)}
    progress = Progress(task, recipe, out, args.episodes, len(names), film, args.checkpoint_every, options)
    signal.signal(signal.SIGTERM, stop)
    try:
        run(args, progress, state)
    except KeyboardInterrupt as stopped:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # what follows is short and should be whole
        sys.exit(leave(progress, args, stopped))


def stop(number: int, frame: object) -> None:
    raise KeyboardInterrupt(number)


def leave(progress: Progress, args: Options, stopped: KeyboardInterrupt) -> int:
    """Keep what there is of an interrupted run, and say where. Returns the exit status."""
    if hasattr(progress, "bar"):
        progress.bar.close()
    out = progress.folder
    if progress.history:
        if progress.seconds is None:  # in the middle of training
            progress.save_last()
        write({**training_metrics(progress, args), "interrupted": True}, out)
        print(
            f"\nstopped at step {progress.model.num_timesteps:,}: {out}/model.zip is the best policy so far "
            f"({100 * progress.best_success:.1f} % success, step {progress.best_steps:,}), last.zip the latest; "
            f"--resume {out} goes on from the last checkpoint"
        )
    else:
        print("\nstopped before the first evaluation: there is no model yet")
    return 128 + (stopped.args[0] if stopped.args else signal.SIGINT)


def cpu_name() -> str:
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


if __name__ == "__main__":
    main()
