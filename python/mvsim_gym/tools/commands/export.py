"""`mvsim-gym export`."""

from __future__ import annotations

import argparse
from typing import Any

from mvsim_gym.tools.options import add_output, add_settings, add_value

HELP = "write a policy as a folder that needs no learning library"
DESCRIPTION = (
    "Writes a folder with the network (policy.onnx, with all scaling inside), its observations and actions"
    " (contract.json), its environment and a README. Loading MODEL.zip of Stable-Baselines3 runs code in it; loading"
    " the folder runs none."
)


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "model",
        metavar="MODEL",
        help="a model of Stable-Baselines3 (MODEL.zip: PPO, A2C, SAC, TD3), or weights of examples/ppo.py (FILE.pt)",
    )
    parser.add_argument(
        "--env", dest="env_id", required=True, metavar="ENV_ID", help="the environment of its training"
    )
    add_output(parser, "FOLDER", "the folder to write")
    add_value(parser, "--agent", "N", "the agent, if there are several (default 0)", default=0, type=int)
    add_value(
        parser,
        "--normalize",
        "FILE",
        "of a MODEL.zip that was trained in VecNormalize: the file of VecNormalize.save (code that runs, too), or"
        " 'none' if no observations were normalised",
    )
    add_settings(parser)


def run(
    model: str, env_id: str, output: str, agent: int, normalize: str | None, settings: dict[str, Any]
) -> None:
    """Writes the folder, and prints the largest difference from the model."""
    from mvsim_gym.deploy.export import export_policy

    contract = export_policy(model, env_id, output, settings=settings, agent=agent, normalize=normalize)
    policy = contract["policy"]
    print(
        f"{output}: {len(contract['observations'])} observations at {contract['rate']:.4g} Hz, actions"
        f" {', '.join(contract['action']['names'])}"
    )
    print(
        f"it differs by at most {policy['largest_difference']:.1e} from {policy['of']}, on"
        f" {policy['observations_compared']:,} observations"
    )
