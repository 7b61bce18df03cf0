"""Options of `World.draw`: any camera, names, forces of wheels, trails."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from mvsim_gym import World

YARD = Path(__file__).parents[1] / "data" / "yard.world.xml"
DOWN = ((0.0, 0.0, 8.0), (0.0, 0.0, 0.0))  # +x to the right, +y upwards
SIZE = 200
PIXELS_PER_M = SIZE / 2 / (8 * np.tan(np.radians(55 / 2)))  # on the ground, below the camera


@pytest.fixture
def world() -> World:
    return World(YARD)


def pixel(x: float, y: float) -> tuple[int, int]:
    """Row and column of a point of the ground seen by DOWN."""
    return round(SIZE / 2 - PIXELS_PER_M * y), round(SIZE / 2 + PIXELS_PER_M * x)


def changed(world: World, **more: Any) -> npt.NDArray[np.bool_]:
    """The pixels that an option of a picture from DOWN changes, which it does twice alike."""
    plain = world.draw(SIZE, SIZE, camera=DOWN)
    other = world.draw(SIZE, SIZE, camera=DOWN, **more)
    assert np.array_equal(other, world.draw(SIZE, SIZE, camera=DOWN, **more))
    return np.asarray((plain != other).any(axis=2))


def test_a_camera_between_two_points(world: World) -> None:
    x, y, *_ = world.blocks["box"].pose
    red, green, blue = world.draw(SIZE, SIZE, camera=((x, y, 3.0), np.array([x, y, 0])))[
        SIZE // 2, SIZE // 2
    ].tolist()
    assert blue > 150 > 100 > max(red, green)
    beside = world.draw(SIZE, SIZE, camera=((x - 3, y, 1.0), (x, y, 0.2)))
    red, green, blue = beside[SIZE // 2, SIZE // 2].tolist()
    assert blue > 100 > max(red, green)
    sky, floor = beside[5, SIZE // 2], beside[-5, SIZE // 2]
    assert not np.allclose(sky, floor, atol=5)


def test_trails_lie_where_their_points_are(world: World) -> None:
    line = changed(world, trails=[[(-1.0, -1.5), (1.0, -1.5)]])
    row, left = pixel(-1.0, -1.5)
    _, right = pixel(1.0, -1.5)
    rows, columns = np.nonzero(line)
    assert abs(rows - row).max() <= 3
    assert abs(columns.min() - left) <= 3 and abs(columns.max() - right) <= 3
    assert line[row, left:right].all()


def test_several_trails_have_colours_of_their_own(world: World) -> None:
    picture = world.draw(
        SIZE, SIZE, camera=DOWN, trails=[[(-1, -1.5), (1, -1.5)], np.array([(-1, -2.5, 0), (1, -2.5, 0)])]
    )
    first, second = picture[pixel(0, -1.5)], picture[pixel(0, -2.5)]
    assert np.abs(first.astype(int) - second).max() > 50


def test_arrows_point_where_wheels_push(world: World) -> None:
    robot = world.vehicles["r2"]
    assert not changed(world, forces=True).any()  # nothing has moved yet
    robot.set_command(1.0, 1.0)  # the world language's sign of raw torques: backwards
    world.step(0.05)
    pushes = [wheel.force[0] for wheel in robot.wheels]
    assert all(abs(push) > 0.1 for push in pushes) and len({push > 0 for push in pushes}) == 1
    rows, columns = np.nonzero(changed(world, forces=True))
    _, at = pixel(robot.pose.x, robot.pose.y)
    forward = columns.max() - at > at - columns.min()
    assert forward == (pushes[0] > 0)
    assert rows.min() < pixel(0, 1.5)[0] < rows.max()  # one on each side


def test_names_stand_at_what_they_name(world: World) -> None:
    pytest.importorskip("PIL", reason="Pillow is not installed: names in pictures are not tested")
    named = changed(world, names=True)
    for thing in (*world.vehicles.values(), world.blocks["box"], world.blocks["post"]):
        row, column = pixel(thing.pose.x, thing.pose.y)
        assert named[row : row + 20, column : column + 20].any(), thing.name
    assert not named[:, :20].any()  # of walls


def test_names_without_pillow_name_the_remedy(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(ImportError, match=r"Pillow: pip install 'mvsim_gym\[plot\]'"):
        world.draw(SIZE, SIZE, names=True)


@pytest.mark.parametrize(
    "camera",
    [
        "left",
        "ab",
        None,
        5,
        ((0, 0), (1, 1)),
        ((0, 0, 0), (0, 0, 0)),
        ((0, 0, np.nan), (0, 0, 1)),
        ((0, 0, 1),),
    ],
)
def test_impossible_cameras_are_refused(world: World, camera: Any) -> None:
    with pytest.raises(ValueError, match=r"camera: .*expected"):
        world.draw(SIZE, SIZE, camera=camera)


@pytest.mark.parametrize("trails", [5, "ab", [(1, 2)], [[(1, 2, 3, 4)]], ["ab"], {"a": [(0, 0)]}])
def test_impossible_trails_are_refused(world: World, trails: Any) -> None:
    with pytest.raises(ValueError, match="trails"):
        world.draw(SIZE, SIZE, trails=trails)
