"""Measures what users would pick instead: each peer by its own script, in a virtual environment below build/venvs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass
from pathlib import Path

from figure import HERE, ROOT, Row, Settings


@dataclass(frozen=True)
class Peer:
    """The package that a script measures, and the virtual environment that it shares with others whose pins agree.
    With `over_own` that environment lies over the one that runs this, whose PyTorch need not be fetched again."""

    package: str
    venv: str = "peers"
    over_own: bool = False

    @property
    def python(self) -> Path:
        return ROOT / "build" / "venvs" / self.venv / "bin" / "python"


# by script
PEERS = {
    "peer_mujoco": Peer("mujoco"),
    "peer_pybullet": Peer("pybullet"),
    "peer_irsim": Peer("ir-sim"),
    "peer_irsim_x": Peer("irsim-x", "peers-irsim-x"),  # its module has the name of ir-sim's
    "peer_navground": Peer("navground"),
    "peer_vmas": Peer("vmas", "peers-vmas", over_own=True),
    "peer_jaxnav": Peer("jaxmarl", "peers-jax"),
    "peer_camar": Peer("camar", "peers-camar"),
    "peer_mujoco_views": Peer("mujoco"),
    "peer_pybullet_views": Peer("pybullet"),
}


def install(peer: Peer) -> str | None:
    """Installs the newest release that pip finds; returns why it could not, if it could not."""
    if not peer.python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(peer.python.parents[1])], check=True)
        if peer.over_own:
            where = "import sysconfig; print(sysconfig.get_path('purelib'))"
            own = subprocess.run([peer.python, "-c", where], capture_output=True, text=True, check=True)
            line = f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n"
            (Path(own.stdout.strip()) / "zz_base.pth").write_text(line)
    pip = [str(peer.python), "-m", "pip"]
    if subprocess.run([*pip, "show", "-q", peer.package], capture_output=True, check=False).returncode == 0:
        return None
    done = subprocess.run([*pip, "install", "-q", peer.package], capture_output=True, text=True, check=False)
    errors = [line for line in done.stderr.splitlines() if "ERROR" in line]
    return None if done.returncode == 0 else (errors or ["pip failed"])[-1]


def measure(script: str, settings: Settings) -> tuple[list[Row], str | None]:
    """Returns the rows of one peer simulator, or a message if it cannot be installed or run."""
    peer = PEERS[script]
    problem = install(peer)
    if problem:
        return [], f"{peer.package} is not measured, for it could not be installed here: {problem}"
    command = [
        str(peer.python),
        str(HERE / "peers" / f"{script}.py"),
        str(settings.runs),
        str(settings.seconds),
    ]
    env = {**os.environ, "PYTHONPATH": str(HERE)}
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=env)
    if done.returncode != 0:
        return [], (done.stderr.strip().splitlines() or ["no output"])[-1]
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return [Row(row["name"], row["unit"], row["config"], row["runs"]) for row in rows], None
