"""The commands that show something in a browser, without one: keys, pauses, mistakes, ends by signals."""

from __future__ import annotations

import io
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from conftest import DATA, ROOT
from signalled import command

from mvsim_gym.tools.cli import main
from mvsim_gym.tools.launch import Clock, _Pace, launch
from mvsim_gym.tools.view import is_world, view_envs

pytest.importorskip("viser", reason="needs the extra 'view'")
from mvsim_gym.view.controls import Controls

YARD = str(DATA / "yard.world.xml")
ENV = "mvsim/NavArena-v0"


def test_keys_of_a_browser_drive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begin = Controls.begin

    def pressed_at_once(self: Controls, speed: float) -> None:
        begin(self, speed)
        self.wishes.extend(["reset", *"wwwwwdd"])

    monkeypatch.setattr(Controls, "begin", pressed_at_once)
    launch(YARD, factor=20, duration=2, outputs=str(tmp_path), view=("127.0.0.1", 0))
    rows = np.loadtxt(tmp_path / "ground_truth.r1.txt")
    assert rows[-1, 1] > rows[0, 1] + 0.5, "r1 drove forward"
    monkeypatch.setattr(Controls, "begin", lambda self, speed: self.wishes.append("end"))
    assert launch(YARD, view=("127.0.0.1", 0)) < 1


def test_pause_step_and_speed() -> None:
    now = [0.0]
    controls = SimpleNamespace(paused=False, speed=1.0)
    view: Any = SimpleNamespace(controls=controls)
    pace = _Pace(Clock(1.0, lambda: now[0]), 1.0, view)
    now[0] = 0.5
    assert pace.lag(0.0, 0.01) == pytest.approx(0.5)
    controls.paused = True
    assert pace.lag(0.5, 0.01) == 0
    pace.single_steps = 2
    assert pace.lag(0.5, 0.01) == pytest.approx(0.02) and pace.lag(0.52, 0.01) == 0
    now[0] = 10.0
    controls.paused = False
    assert pace.lag(0.52, 0.01) == pytest.approx(0), "a pause is not caught up"
    now[0] = 10.1
    assert pace.lag(0.52, 0.01) == pytest.approx(0.1)
    controls.speed = 3.0
    pace.lag(0.62, 0.01)
    now[0] = 10.2
    assert pace.lag(0.62, 0.01) == pytest.approx(0.3)


def test_mistakes_are_one_line(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        for target in (YARD, ENV):
            assert main(["view", target, "--port", port]) == 1
            (line,) = capfd.readouterr().err.splitlines()
            assert f"127.0.0.1:{port}" in line and "free port" in line
    for arguments, expected in (
        ([YARD, "--port", "70000"], "found 70000"),
        ([YARD, "--host", "203.0.113.7"], "203.0.113.7"),
        ([ENV, "--num-envs", "0"], "--num-envs"),
        ([ENV, "--policy", "nobody"], "--policy"),
        (["no/Such-v0"], "no/Such-v0"),
        (["missing.world.xml"], "missing.world.xml"),
    ):
        assert main(["view", *arguments]) == 1
        (line,) = capfd.readouterr().err.splitlines()
        assert expected in line
    monkeypatch.setitem(sys.modules, "viser", None)
    for target in (YARD, ENV):
        assert main(["view", target]) == 1
        (line,) = capfd.readouterr().err.splitlines()
        assert "pip install 'mvsim_gym[view]'" in line


@pytest.mark.parametrize(("kind", "background"), [(signal.SIGINT, True), (signal.SIGTERM, False)])
@pytest.mark.parametrize("target", [YARD, ENV])
def test_signals_end_it_in_good_order(target: str, kind: signal.Signals, background: bool) -> None:
    with command("view", target, "--port", "0", background=background, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        try:
            assert process.stderr.readline().startswith("view: http://127.0.0.1:")
            process.send_signal(kind)
            assert process.wait(20) == 0
            assert process.stderr.read() == f"ended by signal {kind.value} ({kind.name})\n"
        finally:
            process.kill()


def test_a_signal_ends_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    from mvsim_gym.view.view import View

    monkeypatch.setattr(View, "is_watched", True)

    def pressed_at_once(self: Controls, *given: Any, **options: Any) -> None:
        begin(self, *given, **options)
        self.paused = True
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGTERM)).start()

    begin = Controls.__init__
    monkeypatch.setattr(Controls, "__init__", pressed_at_once)
    said = io.StringIO()
    view_envs(ENV, "random", host="127.0.0.1", port=0, say=said)
    assert said.getvalue().endswith("ended by signal 15 (SIGTERM)\n")


def test_envs_are_viewed_by_id_and_by_file() -> None:
    file = str(ROOT / "envs" / "nav_arena.env.xml")
    assert is_world(YARD) and not is_world(file) and not is_world(ENV)
    said = io.StringIO()
    for target in (ENV, file, "mvsim/MultiNav-v0"):  # of which four rows are a world
        for num_envs in (None, 4):
            view_envs(target, "random", num_envs=num_envs, host="127.0.0.1", port=0, steps=2, say=said)
    assert said.getvalue().count("view: http://127.0.0.1:") == 6
