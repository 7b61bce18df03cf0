"""What the view shows beside bodies, by toggles: forces, paths; each at the places that the API tells."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from conftest import DATA

import mvsim_gym

pytest.importorskip("viser", reason="needs the extra 'view'")

YARD = str(DATA / "yard.world.xml")
ENV = "mvsim/NavArena-v0"


def lines_shown(view: Any, name: str) -> Any:
    """What browsers have of a mark; None where it is hidden."""
    marks = view._stage.marks
    return marks._sent[name] if name in marks._nodes and marks._nodes[name].visible else None


def test_forces_are_shown_when_they_are_asked_for() -> None:
    world = mvsim_gym.World(YARD)
    world.vehicles["r1"].set_twist(0.5, 0.7)
    world.step(0.2)
    with world.view(port=0) as view:
        assert not len(view.moment().forces), "they cost nothing as long"
        view.controls.toggles["forces"].value = True
        moment = view.moment()
        pushing = [w for v in world.vehicles.values() for w in v.wheels if np.hypot(*w.force) > 0]
        assert len(moment.forces) == len(pushing) > 1
        radius = np.linalg.norm(world._model.vehicles[0].outline, axis=1).max()
        ways = np.linalg.norm(moment.forces[:, 1] - moment.forces[:, 0], axis=1)
        expected = radius * np.hypot(*pushing[0].force) / pushing[0].load
        assert ways[0] == pytest.approx(expected)
        top = world._model.vehicles[0].z_max
        assert moment.forces[0, :, 2] == pytest.approx([top + 0.02] * 2), "above the robot"
        view._show(moment)
        shafts = lines_shown(view, "forces")
        assert shafts.shape == (3 * len(pushing), 2, 3)
        np.testing.assert_allclose(shafts[: len(pushing)], moment.forces, atol=1e-6)
        np.testing.assert_allclose(shafts[len(pushing) :, 0], np.tile(moment.forces[:, 1], (2, 1)), atol=1e-6)
        view.controls.toggles["forces"].value = False
        view._show(view.moment())
        assert lines_shown(view, "forces") is None


def test_the_path_of_the_chosen_env_leads_to_its_goal() -> None:
    envs = mvsim_gym.VectorEnv("mvsim/NavMap-v0", num_envs=3)
    envs.reset(seed=1)
    envs.step(np.zeros((3, 2), np.float32))
    with envs.view(port=0) as view:
        view.controls.chosen = 2
        assert not len(view.moment().path)
        for name in ("path", "forces"):
            view.controls.toggles[name].value = True
        moment = view.moment()
        np.testing.assert_allclose(moment.path[0, :2], envs.read("vehicle:robot/pose")[2, :2], atol=1e-9)
        np.testing.assert_allclose(moment.path[-1, :2], envs.read("goal")[2], atol=1e-9)
        pieces = np.linalg.norm(np.diff(moment.path, axis=0), axis=1)
        assert pieces.max() < 0.16 and pieces.sum() >= np.linalg.norm(moment.path[-1] - moment.path[0]) - 1e-9
        view._show(moment)
        assert len(lines_shown(view, "path")) == len(moment.path) - 1
        assert len(moment.forces) == len(lines_shown(view, "forces")) / 3
    envs.close()
    envs = mvsim_gym.VectorEnv(ENV, num_envs=1)  # whose task measures no path
    envs.reset(seed=1)
    with envs.view(port=0) as view:
        view._stage.marks.wanted["path"] = True
        view._show(view.moment())
        assert lines_shown(view, "path") is None
    envs.close()


def test_moments_without_marks_leave_them() -> None:
    world = mvsim_gym.World(YARD)
    with world.view(port=0) as view:
        assert view._wants_marks() and not view._wants_marks()
        view._show(view.moment())
        seen = lines_shown(view, "hits")
        world.vehicles["r1"].set_pose(1.0, 1.0)
        view._show(view.moment(marks=False))
        np.testing.assert_array_equal(lines_shown(view, "hits"), seen)
        view._show(view.moment())
        assert not np.array_equal(lines_shown(view, "hits"), seen)
