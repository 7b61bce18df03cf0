"""Marks of the view with toggles: forces, paths; each at the place that the API tells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import DATA

import mvsim_gym
from mvsim_gym.tools.launch import _sync_selection
from mvsim_gym.tools.teleop import Teleop

pytest.importorskip("viser", reason="needs the extra 'view'")

YARD = str(DATA / "yard.world.xml")
ENV = "mvsim/NavArena-v0"


def lines_shown(view: Any, name: str) -> Any:
    """Returns the data of a mark in browsers; None where it is hidden."""
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


def grid_world(folder: Path, more: str = "") -> mvsim_gym.World:
    robots = "".join(
        f'<vehicle name="{name}"><init_pose>{x} 0 0</init_pose><dynamics class="differential">'
        '<controller class="twist_ideal"/></dynamics></vehicle>'
        for name, x in (("a", 0.2), ("b", 12.7))
    )
    grid = f'<element class="ground_grid"><interval>5</interval><x_max>10</x_max>{more}</element>'
    (folder / "g.world.xml").write_text(f"<mvsim_world>{robots}{grid}</mvsim_world>")
    return mvsim_gym.World(folder / "g.world.xml")


def test_a_ground_grid_is_drawn_and_follows_its_vehicle(tmp_path: Path) -> None:
    world = grid_world(tmp_path, "<floating_focus>b</floating_focus><color>#0000ff</color>")
    with world.view(port=0) as view:
        view._show(view.moment())
        grids = view._stage.grids
        ((name, place),) = grids.places.items()
        assert place == pytest.approx((10, 0, 0.005)), "in whole intervals"
        (grid,) = grids._grids_of(world._model)
        lines = grid.node.points
        assert lines.shape == (10 * (8 + 11), 2, 3), "8 along y from -25 to 10, 11 along x, in pieces of 5 m"
        np.testing.assert_allclose(np.linalg.norm(lines[:, 1] - lines[:, 0], axis=1), 5, atol=1.6)
        assert lines[..., 0].min() == -25 and lines[..., 0].max() == 10 and grid.node.name == name
        assert tuple(np.array(grid.node.colors).ravel()[:3]) == (0, 0, 255)
        world.vehicles["b"].set_pose(-7.0, 21.0, 0.0)
        view._show(view.moment())
        assert grids.places[name] == pytest.approx((-5, 20, 0.005))
        world.vehicles["b"].set_pose(-7.5, 22.0, 0.0)
        view._show(view.moment())
        assert grids.places[name] == pytest.approx((-5, 20, 0.005))


def test_a_ground_grid_stays_where_it_is_told_to(tmp_path: Path) -> None:
    world = grid_world(tmp_path, "<floating>false</floating>")
    with world.view(port=0) as view:
        world.vehicles["a"].set_pose(30.0, 30.0, 0.0)
        view._show(view.moment())
        assert list(view._stage.grids.places.values()) == [pytest.approx((0, 0, 0.005))]


def test_the_chosen_vehicle_is_followed_and_plotted(tmp_path: Path) -> None:
    world = grid_world(tmp_path)
    for name, speed in (("a", 0.0), ("b", 1.0)):
        world.vehicles[name].set_twist(speed, 0.0)
    with world.view(port=0) as view:
        world.step(1.0)
        view._stage.follows = True
        first = view.moment()
        view._show(first)
        assert view._stage._origin[0] == pytest.approx(-world.vehicles["a"].pose.x, abs=1e-5)
        assert first.vehicle == "a" and first.values["speed vx"] == pytest.approx(0, abs=0.05)
        view.controls.choose("nobody")
        view.controls.choose("b")
        second = view.moment()
        view._show(second)
        assert view._stage._origin[0] == pytest.approx(-world.vehicles["b"].pose.x, abs=1e-5)
        assert (
            second.values["speed vx"]
            == pytest.approx(world.vehicles["b"].twist.vx)
            != first.values["speed vx"]
        )
        assert list(view._plots._lines["speed"]["speed vx"]) == [second.values["speed vx"]], "begun anew"


def test_keys_and_the_panel_choose_the_same_vehicle(tmp_path: Path) -> None:
    world = grid_world(tmp_path)
    teleop = Teleop(world)
    with world.view(port=0) as view:
        teleop.press("2")
        _sync_selection(view, teleop)
        assert view.controls.vehicle == "b" == view.controls._vehicle.value
        view.controls.picked = view.controls.vehicle = "a"  # what the callback of the panel does
        _sync_selection(view, teleop)
        assert teleop.selected is not None and teleop.selected.name == "a" and view.controls.picked is None


def test_the_vehicle_of_a_team_is_followed_and_its_reward_plotted() -> None:
    envs = mvsim_gym.VectorEnv("mvsim/MultiNav-v0", num_envs=8)
    envs.reset(seed=1)
    with envs.view(port=0) as view:
        envs.step(np.random.default_rng(0).uniform(-1, 1, (8, 2)).astype(np.float32))
        batch = view._batch
        view.controls.chosen = 1
        view.controls.choose(batch.agent_names[2])
        view._stage.follows, view._stage.all_envs = True, False
        moment = view.moment()
        view._show(moment)
        assert moment.values["reward agent"] == batch.rewards[batch.num_agents + 2]
        place = envs.read(f"vehicle:{batch.agent_names[2]}/pose")[1]
        np.testing.assert_allclose(np.negative(view._stage._origin[:2]), place[:2], atol=1e-5)
    envs.close()
