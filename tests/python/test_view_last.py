"""The last moment is what is seen: while something stands still, and after its view has been closed."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
import pytest
from browser import wait_for
from conftest import DATA, run_python

import mvsim_gym

pytest.importorskip("viser", reason="needs the extra 'view'")
from test_view import page
from view_pages import page as open_page

from mvsim_gym.view.moment import Moment
from mvsim_gym.view.view import View

YARD = str(DATA / "yard.world.xml")
ENV = "mvsim/NavArena-v0"


def watch(view: View) -> list[Moment]:
    """The moments that it shows, as it does."""
    shown: list[Moment] = []
    show = view._feed._show

    def noted(moment: Moment) -> None:
        show(moment)
        shown.append(moment)

    view._feed._show = noted
    return shown


def test_what_stands_still_is_seen_as_it_stands() -> None:
    """A call that ends before the next moment is due, as in an interactive session."""
    world = mvsim_gym.World(YARD)
    with world.view(port=0) as view, open_page(view):
        shown = watch(view)
        for _ in range(3):
            world.step(0.1)
            wait_for(lambda: shown and shown[-1].time == pytest.approx(world.time), 20)


def test_a_view_ends_with_the_last_moment() -> None:
    world = mvsim_gym.World(YARD)
    with world.view(port=0) as view, open_page(view):
        shown = watch(view)
        for _ in range(50):
            world.step(0.01)
        view.close()
        assert shown[-1].time == pytest.approx(world.time) and shown[-1].has_marks
        view.close()
    envs = mvsim_gym.VectorEnv(ENV, num_envs=3)
    envs.reset(seed=1)
    with open_page(seen := envs.view(port=0)):
        shown = watch(seen)
        for _ in range(20):
            envs.step(np.ones((3, 2), np.float32))
        places = envs.read("vehicle:robot/pose")[:, :2]
        envs.close()
        (group,) = shown[-1].groups
        np.testing.assert_allclose(group.poses[:, 1, :2], places, atol=1e-6)


def test_the_last_moment_reaches_a_page_and_no_page_holds_it_up() -> None:
    world = mvsim_gym.World(YARD)
    with world.view(port=0) as view, page(view.url, "--stall"), open_page(view):
        sent: list[Any] = []
        encode = view._stage.stream.send
        view._stage.stream.send = lambda: (sent.append(world.time), encode())[1]  # type: ignore[method-assign]
        world.step(1.0)
        view.close()
        assert sent[-1] == world.time


def test_another_thread_does_not_look_at_what_is_stepped() -> None:
    world = mvsim_gym.World(YARD)
    view = world.view(port=0)
    with open_page(view):
        shown = watch(view)
        world.step(0.1)
        time.sleep(0.2)
        count = len(shown)
        other = threading.Thread(target=view.close)
        other.start()
        other.join(10)
        assert view.closed and len(shown) == count


def test_a_script_that_ends_closes_its_view() -> None:
    code = f"""
import atexit, mvsim_gym
from view_pages import page
from test_view_last import watch
world = mvsim_gym.World({YARD!r})
# Leaves the page while threads still run. In the last clean-up of the interpreter this would wait for ever.
atexit.register(lambda: opened.__exit__(None, None, None))
atexit.register(lambda: print(view.closed, round(shown[-1].time - world.time, 9), shown[-1].has_marks))
view = world.view(port=0)
opened = page(view)
opened.__enter__()
shown = watch(view)
world.step(0.3)
"""
    done = run_python(code)
    assert done.returncode == 0 and done.stdout == "True 0.0 True\n", done.stdout + done.stderr
