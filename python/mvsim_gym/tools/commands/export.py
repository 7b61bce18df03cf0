"""`mvsim-gym export`."""

from __future__ import annotations

import argparse
from typing import Any

from mvsim_gym.tools.options import add_output, add_settings

HELP = "write a policy as a folder that needs no learning library"
DESCRIPTION = (
    "Writes a folder with the network (policy.onnx, with all scaling inside), what it sees and does"
    " (contract.json), its environment and a README. MODEL.zip of Stable-Baselines3 is code that runs when it is"
    " loaded; the folder is none."
)


def add(parser: argparse.ArgumentParser) -> None:
    """Adds its arguments."""
    parser.add_argument(
        "model",
        metavar="MODEL",
        help="a model of Stable-Baselines3 (MODEL.zip: PPO, A2C, SAC, TD3), or weights of examples/ppo.py (FILE.pt)",
    )
    parser.add_argument(
        "--env", dest="env_id", required=True, metavar="ENV_ID", help="what it was trained in"
    )
    add_output(parser, "FOLDER", "the folder to write")
    parser.add_argument(
        "--agent", type=int, default=0, metavar="N", help="which of several agents it is (default 0)"
    )
    add_settings(parser)


def run(model: str, env_id: str, output: str, agent: int, settings: dict[str, Any]) -> None:
    """Writes it, and says how exact it is."""
    from mvsim_gym.deploy.export import export_policy

    contract = export_policy(model, env_id, output, settings=settings, agent=agent)
    policy = contract["policy"]
    print(
        f"{output}: {len(contract['observations'])} observations at {contract['rate']:.4g} Hz, actions"
        f" {', '.join(contract['action']['names'])}"
    )
    print(
        f"it differs by at most {policy['largest_difference']:.1e} from {policy['of']}, on"
        f" {policy['observations_compared']:,} observations"
    )
