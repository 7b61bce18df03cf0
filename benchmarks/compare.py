"""Measures what users would pick instead: each peer by its own script, in an environment of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile

from figure import HERE, Row, Settings

VENV = HERE / "results" / "peers-venv"
PYTHON = VENV / "bin" / "python"

# script -> the package it measures
PEERS = {
    "peer_mujoco": "mujoco",
    "peer_pybullet": "pybullet",
    "peer_irsim": "ir-sim",
    "peer_navground": "navground",
    "peer_mujoco_views": "mujoco",
    "peer_pybullet_views": "pybullet",
}


def install(package: str) -> str | None:
    """Installs the newest release that pip finds; returns why it could not, if it could not."""
    if not PYTHON.exists():
        subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True)
    shown = subprocess.run([PYTHON, "-m", "pip", "show", "-q", package], capture_output=True, check=False)
    if shown.returncode == 0:
        return None
    done = subprocess.run(
        [PYTHON, "-m", "pip", "install", "-q", package], capture_output=True, text=True, check=False
    )
    errors = [line for line in done.stderr.splitlines() if "ERROR" in line]
    return None if done.returncode == 0 else (errors or ["pip failed"])[-1]


def measure(script: str, settings: Settings) -> tuple[list[Row], str | None]:
    """The rows of one peer, or what went wrong."""
    problem = install(PEERS[script])
    if problem:
        return [], f"not installed: {problem}"
    command = [str(PYTHON), str(HERE / "peers" / f"{script}.py"), str(settings.runs), str(settings.seconds)]
    env = {**os.environ, "PYTHONPATH": str(HERE)}
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=env)
    if done.returncode != 0:
        return [], (done.stderr.strip().splitlines() or ["no output"])[-1]
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return [Row(row["name"], row["unit"], row["config"], row["runs"]) for row in rows], None
