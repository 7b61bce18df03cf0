"""Writes a policy as a folder: the network, the contract and the environment."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import warnings
from collections.abc import Callable, Mapping
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt

import mvsim_gym
from mvsim_gym._checks import plain_values
from mvsim_gym._files import folders_of
from mvsim_gym._notices import extra, notice
from mvsim_gym.deploy.contract import CONTRACT, FORMAT, digest_of
from mvsim_gym.deploy.pipeline import Pipeline
from mvsim_gym.deploy.policy import NETWORK, load_policy
from mvsim_gym.deploy.world_files import copy_files
from mvsim_gym.registration import source_of
from mvsim_gym.tools.episodes import agents_of
from mvsim_gym.tools.policy import Policy, envs_for, keywords_of, policy_of
from mvsim_gym.vector_env import VectorEnv

__all__ = ["export_policy"]

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
        import torch

        from mvsim_gym.deploy.network import Deterministic, Recurrent, actor_of_weights, module_of_model
    envs = envs_for(env_id, keywords, num_envs=agents_of(env_id, keywords), copy=True)
    space: Any = envs.single_observation_space
    if callable(model):
        own = model if isinstance(model, torch.nn.Module) else torch.nn.Module()
        size = len(envs.action_names)
        module: Any
        if hasattr(model, "state_shapes"):
            recurrent: Any = model

            def act(seen: Tensors, states: tuple[Any, ...]) -> tuple[Any, Any]:
                return recurrent(seen, states)

            module = Recurrent(list(space.spaces), act, model.state_shapes, own, size).eval()
        else:
            module = Deterministic(list(space.spaces), lambda seen: model(seen), own, size).eval()
        name = getattr(model, "__name__", type(model).__name__)
    elif os.fspath(model).endswith((".pt", ".pth")):
        module, name = actor_of_weights(model, space), os.path.basename(os.fspath(model))
    else:
        module, name = module_of_model(os.fspath(model), env_id, envs), os.path.basename(os.fspath(model))
    data = _onnx_of(module, envs)
    folder = os.fspath(output)
    _begin(folder)
    with open(os.path.join(folder, NETWORK), "wb") as file:
        file.write(data)
    contract = _contract(env_id, keywords, agent, envs, folder, name, data)
    if shapes := getattr(module, "state_shapes", ()):
        contract["states"] = [
            {"key": key, "shape": list(shape)} for key, shape in zip(_state_keys(module), shapes, strict=True)
        ]
    _write(folder, contract)
    difference = _difference(folder, _original(model, module, env_id, envs), space)
    contract["policy"]["largest_difference"] = difference
    contract["policy"]["observations_compared"] = _CHECKED
    if difference > TOLERANCE:
        raise ValueError(
            f"the exported network differs by {difference:.2e} from the original, expected at most {TOLERANCE:.0e}"
        )
    _write(folder, contract)
    envs.close()
    return contract


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
    """Returns the names of the inputs that are states."""
    return [f"state_{number}" for number in range(len(getattr(module, "state_shapes", ())))]


def _begin(folder: str) -> None:
    """Makes an empty folder. ValueError if it has other files."""
    if os.path.isdir(folder) and os.listdir(folder) and not os.path.isfile(os.path.join(folder, CONTRACT)):
        raise ValueError(f"-o: found files in '{folder}' that no export wrote, expected a new folder")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(os.path.join(folder, "env"))


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
    texts = {key: value for key, value in own.items() if isinstance(value, str)}
    files = [value for value in texts.values() if os.path.isfile(value)]
    to, roots = os.path.join(folder, "env"), folders_of(own.get("roots", ()))
    copied = copy_files(path, to, texts, files, roots=roots, resources=own.get("resources"))
    kept = {key: value for key, value in plain_values(own).items() if key not in _OF_CONSTRUCTORS}
    privileged: list[str] = []
    try:
        pipeline = Pipeline(path, agent=agent, **kept)
    except ValueError as error:
        if "privileged observations" not in str(error):
            raise
        notice([f"export: {error}"])
        space: Any = envs.single_observation_space
        privileged = _privileged(str(error), list(space.spaces))
        pipeline = Pipeline(path, agent=agent, given=privileged, **kept)
    exact = _exact(pipeline)
    if exact:
        notice(
            [
                f"export: the environment shows the policy exact {' and '.join(exact)}; on a robot they come from"
                " localization and odometry with errors, as with <localization> in the environment file"
            ]
        )
    with open(path, "rb") as file:
        env_digest = hashlib.sha256(file.read()).hexdigest()
    return {
        "format": FORMAT,
        "env": os.path.join("env", copied),
        "env_id": env_id,
        "env_sha256": env_digest,
        "keywords": kept,
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


_OF_CONSTRUCTORS = frozenset({"roots", "resources", "strict", "flatten", "num_threads", "autoreset_mode"})


def _exact(pipeline: Pipeline) -> list[str]:
    """Returns what the observations see without the errors that a robot has: pose, velocity."""
    seen = {need for _, source in pipeline.described if source.is_exact for need in source.needs}
    return [need for need in ("pose", "velocity") if need in seen]


def _privileged(message: str, keys: list[str]) -> list[str]:
    return [key for key in keys if f"{key} (" in message]


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


def _original(
    model: str | os.PathLike[str] | Callable[[Tensors], Any], module: Any, env_id: str, envs: VectorEnv
) -> Policy:
    """Returns the policy that the export is compared to, by the library's own prediction if it has one."""
    import torch

    if not callable(model) and os.fspath(model).endswith(".zip"):
        return policy_of(os.fspath(model), env_id, envs)

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
