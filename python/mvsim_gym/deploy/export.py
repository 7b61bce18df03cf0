"""Writes a policy as a folder: the network, the contract and the environment."""

from __future__ import annotations

import json
import os
import shutil
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt

import mvsim_gym
from mvsim_gym._files import file_digest
from mvsim_gym._notices import extra, notice
from mvsim_gym.deploy.contract import CONTRACT, FORMAT, digest_of, in_folder
from mvsim_gym.deploy.network import statistics_for
from mvsim_gym.deploy.pipeline import Pipeline
from mvsim_gym.deploy.policy import NETWORK, load_policy
from mvsim_gym.deploy.world_files import copy_env
from mvsim_gym.registration import source_of
from mvsim_gym.tools.policy import Policy, agents_of, envs_for, keywords_of, policy_of
from mvsim_gym.vector_env import VectorEnv

_OPSET = 17
_CHECKED = 10_000  # number of observations on which the export and the original are compared
TOLERANCE = 1e-5
"""Largest allowed difference of an action, in [-1, 1]."""

Tensors = Mapping[str, Any]


def export_policy(
    model: str | os.PathLike[str] | Callable[[Tensors], Any],
    env_id: str,
    output: str | os.PathLike[str],
    *,
    settings: Mapping[str, Any] | None = None,
    agent: int = 0,
    normalize: str | os.PathLike[str] | None = None,
) -> dict[str, Any]:
    """Writes a folder with the policy: policy.onnx, contract.json, the environment's files and a README.

    Args:
        model: a model of Stable-Baselines3 (MODEL.zip, which is code that runs), weights of examples/ppo.py (FILE.pt),
            or a function or PyTorch module from observations by key (tensors of PyTorch, a row for each robot) to
            actions (n, size). `of_torchrl`, `of_skrl` and `of_rllib` have such modules for these libraries. With an
            attribute `state_shapes` it is recurrent: it is called with the observations and a tuple of states
            (n, *shape), zero at the begin, and returns the actions and the next states.
        env_id: the environment of the training.
        output: a folder; an existing one is replaced if an export wrote it.
        settings: keywords of the environment; they take precedence over those of the model.
        agent: the robot's agent if the world has several.
        normalize: of a MODEL.zip that was trained in `VecNormalize`: the file of `VecNormalize.save`, which is code
            that runs, too; "none" if no observations were normalised.

    Returns:
        The contract.

    Raises:
        FileNotFoundError: there is no such model.
        ImportError: torch or onnx is missing (the extra `export`).
        ValueError: the model is invalid or of another environment, its export differs from it, or the environment
            names a file in a folder that it may not read.
    """
    keywords = dict(settings or {})
    if not callable(model):
        if not os.path.exists(model):
            raise FileNotFoundError(f"model: there is no file '{os.fspath(model)}'")
        keywords = keywords_of(os.fspath(model), keywords)
    with extra("an export", "export"):
        import onnx  # noqa: F401 (torch.onnx needs it)
        import torch  # noqa: F401
    envs = envs_for(env_id, keywords, num_envs=agents_of(env_id, keywords), copy=True)
    try:
        module, name, original = _module_of(model, env_id, envs, normalize)
        data = _onnx_of(module, envs)
        with _replaced(os.fspath(output)) as folder:
            with open(os.path.join(folder, NETWORK), "wb") as file:
                file.write(data)
            contract = _contract(env_id, keywords, agent, envs, folder, name, data)
            if shapes := getattr(module, "state_shapes", ()):
                contract["states"] = [
                    {"key": key, "shape": list(shape)}
                    for key, shape in zip(_state_keys(module), shapes, strict=True)
                ]
            _write(folder, contract)
            difference = _difference(folder, original, envs.single_observation_space)
            contract["policy"]["largest_difference"] = difference
            contract["policy"]["observations_compared"] = _CHECKED
            if difference > TOLERANCE:
                raise ValueError(
                    f"the exported network differs by {difference:.2e} from the original, expected at most"
                    f" {TOLERANCE:.0e}"
                )
            _write(folder, contract)
    finally:
        envs.close()
    return contract


def _module_of(
    model: str | os.PathLike[str] | Callable[[Tensors], Any],
    env_id: str,
    envs: VectorEnv,
    normalize: str | os.PathLike[str] | None,
) -> tuple[Any, str, Policy]:
    """Returns the network of a model, its name, and the policy that its export is compared to: the library's own
    prediction if there is one."""
    import torch

    from mvsim_gym.deploy.network import Deterministic, Recurrent, actor_of_weights, module_of_model

    path = "" if callable(model) else os.fspath(model)
    if normalize is not None and not path.endswith(".zip"):
        raise ValueError("--normalize: found it without a MODEL.zip of Stable-Baselines3, expected one")
    space: Any = envs.single_observation_space
    module: Any
    if callable(model):
        own = model if isinstance(model, torch.nn.Module) else torch.nn.Module()
        size, keys = len(envs.action_names), list(space.spaces)
        if hasattr(model, "state_shapes"):
            recurrent: Any = model

            def act(seen: Tensors, states: tuple[Any, ...]) -> tuple[Any, Any]:
                return recurrent(seen, states)

            module = Recurrent(keys, act, model.state_shapes, own, size).eval()
        else:
            module = Deterministic(keys, lambda seen: model(seen), own, size).eval()
        return module, getattr(model, "__name__", type(model).__name__), _policy_of_module(module)
    name = os.path.basename(path)
    if path.endswith((".pt", ".pth")):
        module = actor_of_weights(path, space)
        return module, name, _policy_of_module(module)
    statistics = statistics_for(path, normalize)
    module = module_of_model(path, env_id, envs, statistics)
    if not path.endswith(".zip"):
        return module, name, _policy_of_module(module)
    seen_as = statistics.normalize_obs if statistics is not None else (lambda seen: seen)
    return module, name, policy_of(path, env_id, envs, normalize=seen_as)


def _onnx_of(module: Any, envs: VectorEnv) -> bytes:
    import torch

    space: Any = envs.single_observation_space
    rows = 2
    inputs = tuple(torch.from_numpy(np.stack([box.low] * rows)) for box in space.spaces.values())
    keys = [*space.spaces, *_state_keys(module)]
    inputs += tuple(torch.zeros(rows, *shape) for shape in getattr(module, "state_shapes", ()))
    outputs = ["action", *(f"next_{key}" for key in _state_keys(module))]
    with TemporaryDirectory() as folder, warnings.catch_warnings(), torch.no_grad():
        path = os.path.join(folder, NETWORK)
        warnings.simplefilter("ignore")
        torch.onnx.export(
            module,
            inputs,
            path,
            input_names=keys,
            output_names=outputs,
            opset_version=_OPSET,
            dynamo=False,
            dynamic_axes={key: {0: "rows"} for key in [*keys, *outputs]},
        )
        with open(path, "rb") as file:
            return file.read()


def _state_keys(module: Any) -> list[str]:
    return [f"state_{number}" for number in range(len(getattr(module, "state_shapes", ())))]


@contextmanager
def _replaced(folder: str) -> Iterator[str]:
    """Yields a new folder, which replaces `folder` at the end. After an error `folder` is as it was. ValueError if it
    has other files."""
    if os.path.isdir(folder) and os.listdir(folder) and not os.path.isfile(os.path.join(folder, CONTRACT)):
        raise ValueError(f"-o: found files in '{folder}' that no export wrote, expected a new folder")
    place = os.path.dirname(os.path.abspath(folder))
    os.makedirs(place, exist_ok=True)
    with TemporaryDirectory(prefix=".export-", dir=place) as scratch:
        new = os.path.join(scratch, "policy")
        os.makedirs(os.path.join(new, "env"))
        yield new
        shutil.rmtree(folder, ignore_errors=True)
        os.rename(new, folder)


def _contract(
    env_id: str,
    keywords: Mapping[str, Any],
    agent: int,
    envs: VectorEnv,
    folder: str,
    name: str,
    data: bytes,
) -> dict[str, Any]:
    path, own = source_of(env_id, dict(keywords))
    copied, kept, files = copy_env(path, own, folder)
    here = os.path.join(folder, copied)
    there = in_folder(folder, kept, files)
    privileged: list[str] = []
    try:
        pipeline = Pipeline(here, agent=agent, **there)
    except ValueError as error:
        if "privileged observations" not in str(error):
            raise
        notice([f"export: {error}"])
        space: Any = envs.single_observation_space
        privileged = [key for key in space.spaces if f"{key} (" in str(error)]
        pipeline = Pipeline(here, agent=agent, given=privileged, **there)
    exact = _exact(pipeline)
    if exact:
        notice(
            [
                f"export: the environment shows the policy exact {' and '.join(exact)}; on a robot they come from"
                " localization and odometry with errors, as with <localization> in the environment file"
            ]
        )
    return {
        "format": FORMAT,
        "env": copied,
        "env_id": env_id,
        "env_sha256": file_digest(path),
        "keywords": kept,
        "files": files,
        "agent": agent,
        "versions": {"mvsim_gym": mvsim_gym.__version__},
        "control_period": pipeline.control_period,
        "rate": 1 / pipeline.control_period,
        "observations": [
            {
                "key": o.key,
                "class": source.class_name,
                "dtype": o.dtype.name,
                "shape": list(o.shape),
                "low": _bound(o.low),
                "high": _bound(o.high),
                "needs": source.needs,
                "sensor": source.sensor,
            }
            for o, source in pipeline.described
        ],
        "given": privileged,
        "exact": exact,
        "action": {
            "names": pipeline.action_names,
            "low": pipeline.action_low.tolist(),
            "high": pipeline.action_high.tolist(),
            "command": pipeline.command_names,
            "units": pipeline.command_units,
        },
        "goal_radius": pipeline.goal_radius if pipeline.has_goal else None,
        "vehicle": pipeline.vehicle.name,
        "sensors": [_sensor(sensor) for sensor in pipeline.sensors.values()],
        "frames": {"pose": "map", "odometry": "odom", "robot": "base_link"},
        "policy": {"of": name, "sha256": digest_of(data), "opset": _OPSET},
    }


def _exact(pipeline: Pipeline) -> list[str]:
    """Returns what the observations see without the errors that a robot has: pose, velocity."""
    seen = {need for _, source in pipeline.described if source.is_exact for need in source.needs}
    return [need for need in ("pose", "velocity") if need in seen]


def _bound(values: npt.NDArray[Any]) -> Any:
    """Returns one number if all values are equal."""
    flat = np.unique(values)
    return flat[0].item() if len(flat) == 1 else values.tolist()


def _sensor(sensor: Any) -> dict[str, Any]:
    out = {
        "name": sensor.name,
        "class": sensor.class_name,
        "mount": list(sensor.mount),
        "period": sensor.period,
    }
    angles = sensor.angles
    if angles is not None:
        out |= {
            "beams": len(angles),
            "angle_min": angles[0],
            "angle_max": angles[-1],
            "range_max": sensor.high,
        }
    for name, view in sensor.views.items():
        out[name] = (
            {"intrinsics": list(view["intrinsics"])}
            if "intrinsics" in view
            else {"rings": len(view["elevations"])}
        )
    return out


def _write(folder: str, contract: Mapping[str, Any]) -> None:
    with open(os.path.join(folder, CONTRACT), "w", encoding="utf-8") as file:
        json.dump(contract, file, indent=1)
        file.write("\n")
    with open(os.path.join(folder, "README.md"), "w", encoding="utf-8") as file:
        file.write(_readme(contract))


def _readme(contract: Mapping[str, Any]) -> str:
    needs = sorted({need for o in contract["observations"] for need in o["needs"]} - {"sensor", "given"})
    sensors = [sensor["name"] for sensor in contract["sensors"]]
    return f"""# A policy for {contract["env_id"]}

It was exported from `{contract["policy"]["of"]}` by `mvsim-gym export`. Nothing in this folder is code.

- `policy.onnx`: from observations to the action in [-1, 1]; the scaling of the training is inside.
- `contract.json`: observations and action with shapes and units, and the rate ({contract["rate"]:.4g} Hz).
- `env/`: the environment file and the files that it names.

It needs the sensors {", ".join(sensors) or "(none)"} and {", ".join(needs) or "nothing else"}.
The environment shows {" and ".join(contract["exact"]) or "neither pose nor velocity"} without errors.

    pip install 'mvsim_gym[deploy,ros]'
    mvsim-gym evaluate {contract["env_id"]} --policy .     # in simulation
    mvsim-gym drive . --dry                                # on the robot: prints its commands, sends none

From Python:

    from mvsim_gym.deploy import Pipeline, load_policy

    policy = load_policy(".")
    pipeline = Pipeline(policy.env, **policy.keywords)
    policy.begin()                                         # at the begin of each episode
    command = pipeline.command(policy(pipeline.observe(now)))
"""


def _policy_of_module(module: Any) -> Policy:
    import torch

    shapes = getattr(module, "state_shapes", ())
    states: tuple[Any, ...] = ()

    def act(seen: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[np.float32]:
        nonlocal states
        values = [torch.from_numpy(seen[key]) for key in module.keys]
        with torch.no_grad():
            if not shapes:
                return np.asarray(module(*values))
            action, *states = module(*values, *(states or [torch.zeros(len(values[0]), *s) for s in shapes]))
            return np.asarray(action)

    return act


def _difference(folder: str, original: Policy, space: Any) -> float:
    """Returns the largest difference of an action over random observations within the bounds and at them. Recurrent
    policies get them in turn, a part in each call, so their states are compared, too."""
    exported = load_policy(folder)
    random = np.random.default_rng(0)
    worst, rows = 0.0, 500
    for _ in range(_CHECKED // rows):
        seen = {}
        for key, box in space.spaces.items():
            share = random.random((rows, *box.shape), np.float32)
            share[: rows // 10] = np.round(share[: rows // 10])
            seen[key] = (box.low + share * (box.high.astype(np.float32) - box.low)).astype(box.dtype)
        worst = max(worst, float(np.abs(exported(seen) - original(seen)).max()))
    return worst
