"""`mvsim-gym drive` refuses, at its start, a policy whose observations no message tells; the files of all others are in
their folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

pytest.importorskip("rosbags", reason="needs the extra ros")

from test_deploy_parity import GIVEN, pipeline_of

from mvsim_gym import _core
from mvsim_gym._files import assets
from mvsim_gym.deploy import Pipeline
from mvsim_gym.deploy.world_files import copy_files
from mvsim_gym.errors import WorldFileError
from mvsim_gym.registration import listing
from mvsim_gym.ros.robot_readings import check_told

UNTOLD = {
    "mvsim/Crowd-v0": ["neighbours"],
    "mvsim/CrowdNav-v0": ["neighbours"],
    "mvsim/Greenhouse-v0": ["row_parity"],
    "mvsim/IceDrive-v0": ["wheels"],
    "mvsim/OffRoad-v0": ["wheels"],
    "mvsim/Parking-v0": ["goal_heading"],
    "mvsim/RaceDuel-v0": ["opponent"],
    "mvsim/RowFollow-v0": ["row_parity"],
    "mvsim/Slick-v0": ["wheels"],
    "mvsim/SocialNav-v0": ["neighbours"],
    "mvsim/TerrainGoal-v0": ["attitude"],
    "mvsim/TrailerDock-v0": ["dock", "hitch", "near"],
}


@pytest.mark.parametrize("env_id", sorted(listing()))
def test_a_policy_is_refused_if_no_message_tells_what_it_observes(env_id: str) -> None:
    pipeline = pipeline_of(env_id)
    if env_id not in UNTOLD:
        check_told(pipeline)
        return
    with pytest.raises(ValueError, match=r"drive: found a policy .* mvsim_gym\.deploy\.loop") as refused:
        check_told(pipeline)
    named = [part.split("'")[0] for part in str(refused.value).split("'")[1::2]]
    assert named == UNTOLD[env_id]


@pytest.mark.parametrize("env_id", sorted(listing()))
def test_the_files_of_an_exported_environment_are_all_copied(env_id: str, tmp_path: Path) -> None:
    source = dict(_core.list_envs(str(Path(assets()) / "envs")))[env_id]
    copied = tmp_path / os.path.relpath(source, copy_files(source, str(tmp_path), {}))
    pipeline = Pipeline(copied, given=GIVEN.get(env_id, ()))
    assert pipeline.sources == pipeline_of(env_id).sources


@pytest.mark.parametrize("name", ["{secret}/${any}.txt", "../secret/${any}.txt", "${any}/../../secret/x.txt"])
def test_a_pattern_collects_no_files_of_other_folders(name: str, tmp_path: Path) -> None:
    own, secret = tmp_path / "own", tmp_path / "secret"
    for folder in (own, secret):
        folder.mkdir()
        (folder / "key.txt").write_text("x")
    env = own / "a.env.xml"
    env.write_text(f'<mvsim_env world="{name.replace("{secret}", str(secret))}" mine="./${{any}}.txt"/>')
    out = tmp_path / "out"
    out.mkdir()
    copy_files(str(env), str(out), {})
    assert sorted(path.name for path in out.rglob("*") if path.is_file()) == ["a.env.xml", "key.txt"]


@pytest.mark.parametrize(
    "name", ["{secret}/key.txt", "../../secret/key.txt", "link.txt", "{secret}/${knob}.txt"]
)
def test_a_name_that_leads_to_another_folder_is_refused(name: str, tmp_path: Path) -> None:
    own, secret, out = tmp_path / "task" / "envs", tmp_path / "secret", tmp_path / "out"
    for folder in (own, secret, out):
        folder.mkdir(parents=True)
    (secret / "key.txt").write_text("x")
    (own / "link.txt").symlink_to(secret / "key.txt")
    name = name.replace("{secret}", str(secret))
    env = own / "a.env.xml"
    env.write_text(f'<mvsim_env\n  world="{name}">\n <knob name="knob" value="key"/></mvsim_env>')
    found = name.replace("${knob}", "key")
    expected = (
        rf"{env}:2:10: found the file '{found}', expected a file in a folder .*{tmp_path / 'task'}.*--roots"
    )
    with pytest.raises(WorldFileError, match=expected):
        copy_files(str(env), str(out), {})
    assert not any(out.iterdir())
    copy_files(str(env), str(out), {}, roots=[str(secret)])
    assert sorted(path.name for path in out.rglob("*") if path.is_file())[0] == "a.env.xml"
    assert len(list(out.rglob("*.txt"))) == 1


def test_files_that_the_loader_may_read_are_copied_and_comments_name_none(tmp_path: Path) -> None:
    envs, worlds, extra, secret, out = (tmp_path / n for n in ("a/envs", "a/worlds", "b/extra", "c", "out"))
    for folder in (envs, worlds, extra, secret, out):
        folder.mkdir(parents=True)
    (secret / "key.txt").write_text("x")
    (extra / "own.world.xml").write_text('<mvsim_world><include file="../body.xml"/></mvsim_world>')
    (extra / "../body.xml").write_text(f"<!-- as\n{secret}/key.txt --><a/>")
    (worlds / "map.yaml").write_text(f"image: map.png  # of {secret}/key.txt")
    (worlds / "map.png").write_text("x")
    # where a mesh was made; the loader does not read it
    (worlds / "robot.dae").write_text(f"<source_data>file://{secret}/key.txt</source_data>")
    env = envs / "a.env.xml"
    env.write_text('<mvsim_env world="../worlds/map.yaml" mesh="../worlds/robot.dae"/>')
    copy_files(str(env), str(out), {}, [str(extra / "own.world.xml")])
    copied = sorted(str(path.relative_to(out)) for path in out.rglob("*") if path.is_file())
    assert copied == [
        "a/envs/a.env.xml",
        "a/worlds/map.png",
        "a/worlds/map.yaml",
        "a/worlds/robot.dae",
        "b/body.xml",
        "b/extra/own.world.xml",
    ]


def test_the_command_says_so_at_its_start(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("onnx", reason="needs the extra export")
    pytest.importorskip("onnxruntime", reason="needs the extra deploy")
    import torch

    from mvsim_gym.deploy.export import export_policy
    from mvsim_gym.tools.cli import main

    def towards(seen: dict[str, torch.Tensor]) -> torch.Tensor:
        return torch.cat([seen["goal"][:, 1:2], seen["goal"][:, 2:3]], dim=1)

    export_policy(towards, "mvsim/Parking-v0", tmp_path / "policy")
    assert main(["drive", str(tmp_path / "policy"), "--goal", "1", "1", "--dry"]) != 0
    assert "'goal_heading' (the heading of a goal in a message is ignored" in capsys.readouterr().err
