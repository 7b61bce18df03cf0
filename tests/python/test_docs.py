"""Code of the documentation works as printed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
from conftest import ALL_IDS, ROOT
from pages import DOCS, Code, blocks, code_of, pages

import mvsim_gym


def first_xml(page: str) -> str:
    return (DOCS / page).read_text().split("```xml\n", 1)[1].split("```", 1)[0]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "my.world.xml").write_text(first_xml("world-files.md"))
    (tmp_path / "my_task.env.xml").write_text(first_xml("env-files.md"))
    return tmp_path


def test_the_world_of_the_page_on_worlds(files: Path) -> None:
    world = mvsim_gym.World(files / "my.world.xml")
    world.vehicles["r1"].set_twist(0.2, 0)
    world.step(1)
    assert world.vehicles["r1"].pose.y > 0.1 and not world.warnings


def test_the_environment_of_the_page_on_environments(files: Path) -> None:
    env = gym.make("mvsim/Custom-v0", env=str(files / "my_task.env.xml"))
    env.reset(seed=0)
    for _ in range(20):
        env.step(env.action_space.sample())
    env.close()


def test_tables_of_figures_are_those_of_the_results() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "table.py"), "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_tables_of_tags_and_keywords_are_those_of_the_package() -> None:
    done = subprocess.run(
        [sys.executable, str(DOCS / "tables.py"), "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_the_page_on_building_names_the_packages_that_are_needed() -> None:
    """The page on building has what ./dev installs, but for what only the C++ tests need."""
    listed = re.search(r'^packages="([^"]*)"', (ROOT / "dev").read_text(), re.MULTILINE)
    line = re.search(r"^sudo apt install (.*)$", (DOCS / "building.md").read_text(), re.MULTILINE)
    assert listed and line
    assert set(line[1].split()) == set(listed[1].split()) - {"python3", "libgtest-dev"}


def test_pages_link_to_pages_that_are_there() -> None:
    for page in pages():
        for target in re.findall(r"\]\(([^)#:]+)(?:#[\w-]*)?\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


@pytest.mark.parametrize("id", ALL_IDS)
def test_the_page_on_baselines_lists_every_environment(id: str) -> None:
    """With its script, PPO (or that it was not measured) and the floors. Missing: see CONTRIBUTING.md, Environment."""
    page = (DOCS / "baselines.md").read_text()
    overview, policies = (
        page.split(f"<!-- baselines: {name} -->")[1].split("<!-- end -->")[0]
        for name in ("environments", "policies")
    )
    row = re.search(rf"^\| `{id}` \|(.*)\|$", overview, re.MULTILINE)
    rows = re.search(rf"^\| `{id}` \|(.*\n\|  \|)+.*$", policies, re.MULTILINE)
    assert row and len(re.findall(r"[\d.]+ %|not measured", row[1])) == 4
    assert rows and {"random", "stands still", "PPO"} <= set(re.findall(r"\| ([^|]+) \| [\dn]", rows[0]))


@pytest.mark.slow
@pytest.mark.unsanitized
def test_the_curriculum_of_the_page_on_training() -> None:
    code = code_of("curriculum")
    names: dict[str, Any] = {}
    exec(code.replace("0_000", ""), names)
    assert names["obstacles"] == 8 and names["model"].num_timesteps >= 3 * 128 * 64


@pytest.mark.unsanitized
def test_the_first_training_has_large_minibatches_and_evaluates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its lines as they are, but for the steps. A minibatch of 64, the default, takes ten times as long."""
    torch = pytest.importorskip("torch", reason="the extra sb3 is not installed")
    code = code_of("sb3")
    assert len(code.splitlines()) <= 12 and "learn(1_000_000)" in code
    monkeypatch.chdir(tmp_path)
    threads = torch.get_num_threads()
    names: dict[str, Any] = {}
    try:
        exec(code.replace("1_000_000", "8_192").replace('.zip"))', '.zip", episodes=3))'), names)
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(threads)
    model = names["model"]
    passes = model.n_epochs * model.n_steps * model.n_envs / model.batch_size
    assert model.num_timesteps == 8192 and passes <= 10  # updates of the network, for so many steps
    assert re.search(r"navarena.zip: 3 episodes.*\nsuccess +[\d.]+ %", capsys.readouterr().out)


def test_one_headline_figure() -> None:
    """The same in the text as in the table."""
    text = (ROOT / "README.md").read_text()
    found = re.search(r"<!-- headline -->([\d,]+)<!-- end -->", text)
    assert found and f"| **mvsim_gym** | {found[1]} |" in text
    assert not re.search(r"\d+,000 times a second", text)


@pytest.mark.parametrize("name", ["state", "terms", "agents"])
def test_the_code_of_the_page_on_python(name: str) -> None:
    code = code_of(name)
    names: dict[str, Any] = {"gym": gym, "mvsim_gym": mvsim_gym}
    exec(code, names)
    envs = names["envs"]
    envs.reset(seed=1)
    envs.step(envs.action_space.sample())


def test_the_code_of_the_page_on_python_for_pettingzoo() -> None:
    pytest.importorskip("pettingzoo", reason="the extra pettingzoo is not installed")
    code = code_of("pettingzoo")
    names: dict[str, Any] = {"mvsim_gym": mvsim_gym}
    exec(code, names)
    assert names["env"].agents == [] and names["env"].state().shape == (40,)


# Marks of Python blocks -> the tests that run them are those that call code_of() with the mark.
MARKS = {
    "agents",
    "curriculum",
    "fragment",
    "no-run",
    "node",
    "pettingzoo",
    "pilot",
    "ros",
    "sb3",
    "state",
    "terms",
    "trust",
    "tutorial",
}


def test_marks_of_code_are_known() -> None:
    """A typing error in a mark would keep its code from every test."""
    unknown = [
        (b.page, b.mark) for b in blocks() if b.language == "python" and b.mark and b.mark not in MARKS
    ]
    assert not unknown
    assert {block.language for block in blocks()} <= {"python", "xml", "sh"}


@pytest.mark.parametrize("block", [b for b in blocks() if b.language == "python" and not b.mark])
def test_code_without_a_mark_runs(block: Code, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(files)
    exec(block.text, {})


@pytest.mark.parametrize("block", [b for b in blocks() if b.language == "xml" and not b.mark])
def test_files_without_a_mark_load(block: Code, files: Path) -> None:
    if "<mvsim_env" in block.text:
        (files / "one.env.xml").write_text(block.text)
        gym.make("mvsim/Custom-v0", env=str(files / "one.env.xml")).close()
    else:
        (files / "one.world.xml").write_text(block.text)
        assert not mvsim_gym.World(files / "one.world.xml").warnings


@pytest.mark.parametrize("block", [b for b in blocks() if b.language == "sh"])
def test_commands_of_the_pages_exist(block: Code) -> None:
    commands = {line.split()[1] for line in (ROOT / "dev").read_text().splitlines() if line.startswith("#: ")}
    tools = subprocess.run(
        [sys.executable, "-m", "mvsim_gym", "--help"], capture_output=True, text=True, check=True
    ).stdout
    for line in block.text.splitlines():
        words = line.split()
        if words[:1] == ["./dev"]:
            assert words[1] in commands, line
        elif words[:1] == ["mvsim-gym"]:
            assert re.search(rf"^    {words[1]}\b", tools, re.MULTILINE), line
        elif words[:1] == ["python"]:
            assert (ROOT / words[1]).exists(), line


@pytest.mark.parametrize("page", sorted(path.name for path in DOCS.glob("tutorial-*.md")))
def test_a_tutorial(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files of a tutorial have their names as marks; the pages before it in the contents have theirs."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for block in blocks():
        if block.language == "xml" and block.page.startswith("tutorial-"):
            (tmp_path / f"{block.mark}.xml").write_text(block.text)
    for block in blocks():
        if (block.page, block.language, block.mark) == (page, "python", "tutorial"):
            exec(block.text, names)
    assert not getattr(names.get("world"), "warnings", [])


def test_lengths_of_the_pages() -> None:
    """The lengths that ./dev site checks too, there for the generated pages as well."""
    sys.path.append(str(DOCS))
    import check_site

    assert check_site.long_pages() == []


@pytest.mark.parametrize(
    ("link", "is_good"),
    [
        ("https://doi.org/10.1177/0278364905058239", True),
        ("https://mcap.dev", True),
        ("https://keepachangelog.com/en/1.1.0/", True),
        ("http://mcap.dev", False),
        ("https://localhost/x", False),
        ("https://mcap.dev/a b", False),
        ("https://mcap.dev/docs.", False),
    ],
)
def test_the_form_of_links_to_other_sites(link: str, is_good: bool, tmp_path: Path) -> None:
    sys.path.append(str(DOCS))
    import check_site

    (tmp_path / "page.html").write_text(f'<a href="{link}">x</a>')
    expected = [] if is_good else [f"page.html: found the link {link}, expected https://HOST/PATH"]
    assert check_site.broken_links(tmp_path) == expected


def test_links_of_the_repository_to_other_sites_have_this_form() -> None:
    sys.path.append(str(DOCS))
    import check_site

    found = [
        link
        for page in [*pages(), ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
        for link in re.findall(r"\]\((\w+:[^)]*)\)", page.read_text())
    ]
    assert len(found) > 5 and [link for link in found if not check_site.OUTSIDE.fullmatch(link)] == []


@pytest.mark.unsanitized
def test_the_animation_of_an_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It shows a whole episode: the robot, which moves, and nothing else in NavArena does."""
    sys.path.append(str(DOCS))
    import environments
    from PIL import Image

    monkeypatch.setattr(environments, "FRAMES", 4)
    monkeypatch.setattr(environments, "SIDE", 96)
    frames, seconds = environments.film_of("mvsim/NavArena-v0")
    assert len(frames) == 4 and 5 < seconds <= 50
    assert len({frame.tobytes() for frame in frames}) == 4
    environments.save_film(tmp_path / "film.webp", frames)
    with Image.open(tmp_path / "film.webp") as film:
        assert (film.n_frames, film.size) == (4, (96, 96))
    monkeypatch.setattr(environments, "MOST_BYTES", 100)
    with pytest.raises(ValueError, match="bytes, expected at most 100"):
        environments.save_film(tmp_path / "film.webp", frames)


def test_every_page_is_in_a_table_of_contents() -> None:
    contents = re.findall(r"^```{toctree}\n(.*?)^```", (DOCS / "index.md").read_text(), re.M | re.S)
    listed = [line for block in contents for line in block.split("\n") if re.fullmatch(r"[\w-]+", line)]
    assert sorted(listed) == sorted(page.stem for page in DOCS.glob("*.md") if page.stem != "index")
