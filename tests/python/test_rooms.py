"""The rooms of src/ include each other only as the table says, which docs/architecture.md and CMakeLists.txt follow.

Files are neither too short nor too long: a reader should not have to open five files for one idea.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"

# The rooms that the files of a room may include beside its own, in the order of docs/architecture.md. `model` and
# `sim` do not include `render`: they do not know how a picture is made.
MAY_INCLUDE = {
    "base": "",
    "raycast": "base",
    "assets": "base",
    "worldfile": "base assets",
    "scene": "base raycast assets",
    "terrain": "base",
    "tire": "base terrain",
    "vehicle": "base",
    "sensor": "base raycast worldfile",
    "render": "base raycast assets scene sensor",
    "model": "base raycast assets worldfile scene terrain tire vehicle sensor",
    "sim": "base raycast scene terrain tire vehicle sensor model",
    "record": "base model sim",
    "views": "base scene sensor render model",
    "task": "base raycast assets worldfile terrain vehicle sensor render model sim views",
    "episode": "base vehicle sensor model sim views task",
    "batch": "base sensor render model sim record views task episode",
    "python": "base assets worldfile scene tire vehicle sensor render model sim record views task episode batch",
}

# The same of the folders of render/, one for each way to draw. Beside them stands shading.h: the formulas that all use.
RENDER_MAY_INCLUDE = {"rays": "", "level": "rays", "gl": "rays", "pictures": "gl"}

# Files that may have fewer than 40 lines: registries, tables, seams of the linker or a library, and pure interfaces.
SHORT = {
    "assets/confined_child.h": "interface: one function, behind which nothing is trusted",
    "base/highway_targets.h": "settings that Highway reads before its header",
    "base/lanes.h": "interface: vectors that every processor has",
    "base/math.h": "interface of the elementary functions",
    "base/math_coefficients.h": "table of the coefficients of these functions",
    "base/registered.h": "registries of classes: the object of a class",
    "base/simd.h": "interface: the choice of an instruction set",
    "raycast/embree_library.h": "table of the functions of a library that is loaded at run time",
    "sensor/more_sensors.cpp": "default that a build with sensors of its own leaves out",
    "task/more_observations.cpp": "default that a build with observations of its own leaves out",
    "tire/shaft.h": "interface: one function",
    "tire/wheel_row.h": "interface: one function and its inputs",
    "tire/tires.cpp": "registry of the friction models",
    "vehicle/dynamics.cpp": "registry of the dynamics classes",
}
SHORTEST, LONGEST = 40, 400  # lines


def files_of(room: str) -> list[Path]:
    return [
        f for f in sorted((SOURCE / room).rglob("*")) if f.suffix in {".h", ".cpp"} and "glad" not in f.parts
    ]


def included_rooms(text: str, within: str = "") -> set[str]:
    return set(re.findall(rf'^\s*#\s*include "{within}([a-z_]+)/', text, re.MULTILINE))


def test_every_folder_is_a_room() -> None:
    assert {folder.name for folder in SOURCE.iterdir() if folder.is_dir()} == set(MAY_INCLUDE)


@pytest.mark.parametrize("room", MAY_INCLUDE)
def test_a_room_includes_only_what_the_table_says(room: str) -> None:
    allowed = {room, *MAY_INCLUDE[room].split()}
    files = files_of(room)
    assert files
    wrong = {str(f.relative_to(ROOT)): sorted(included_rooms(f.read_text()) - allowed) for f in files}
    assert {name: rooms for name, rooms in wrong.items() if rooms} == {}


def test_render_is_four_rooms_that_include_only_what_the_table_says() -> None:
    assert {path.name for path in (SOURCE / "render").iterdir()} == {
        *RENDER_MAY_INCLUDE,
        "glad",
        "shading.h",
        "shading.cpp",
    }
    for room, others in RENDER_MAY_INCLUDE.items():
        for file in files_of(f"render/{room}"):
            assert included_rooms(file.read_text(), "render/") <= {room, *others.split()}, file


def test_a_room_includes_only_rooms_before_it() -> None:
    order = list(MAY_INCLUDE)
    for room, others in MAY_INCLUDE.items():
        assert all(order.index(other) < order.index(room) for other in others.split()), room


def test_the_page_and_the_build_name_the_same_rooms_in_the_same_order() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    assert re.findall(r"^\| `([a-z_]+)/` \|", page, re.MULTILINE) == list(MAY_INCLUDE)
    build = re.search(r"set\(MVSIM_ROOMS ([a-z ]+)", (ROOT / "CMakeLists.txt").read_text())
    assert build and build[1].split() == [room for room in MAY_INCLUDE if room != "python"]


def lengths(files: list[Path], root: Path) -> dict[str, int]:
    return {str(f.relative_to(root)): len(f.read_text().splitlines()) for f in files}


def test_files_of_src_are_full_and_not_long() -> None:
    found = lengths([f for room in MAY_INCLUDE for f in files_of(room)], SOURCE)
    assert set(SHORT) <= set(found)
    assert {name for name, lines in found.items() if lines < SHORTEST} <= set(SHORT)
    assert [name for name, lines in found.items() if lines > LONGEST] == []
    assert sum(lines < 60 for lines in found.values()) <= 0.25 * len(found)


def test_modules_of_the_package_are_not_long() -> None:
    package = ROOT / "python" / "mvsim_gym"
    found = lengths(sorted(package.rglob("*.py")), package)
    assert [name for name, lines in found.items() if lines > LONGEST] == []
