"""Copies an environment file and the files that it names to another folder."""

from __future__ import annotations

import glob
import os
import re
import shutil
from collections.abc import Iterable

from mvsim_gym._files import assets

__all__ = ["copy_files"]

_READ = (".xml", ".yaml", ".yml", ".dae", ".sdf", ".urdf", ".obj", ".mtl")
"""Extensions of files that may name further files."""
_NAME = re.compile(r"[^\s\"'<>=;,()]+\.[A-Za-z0-9_]{1,8}")
_KNOB = re.compile(r"<knob\b[^>]*\bname=\"([^\"]*)\"[^>]*\bvalue=\"([^\"]*)\"")
_USE = re.compile(r"\$(?:\{([^}|]*)(?:\|([^}]*))?\}|\(([^)]*)\))")
_ANY = re.compile(r"\$(?:f?\{[^}]*\}|\([^)]*\))")
"""A part of a name that may differ between worlds."""
_MOST_FILES, _MOST_BYTES = 10_000, 1 << 30


def copy_files(env: str, folder: str, texts: dict[str, str], extra: Iterable[str] = ()) -> str:
    """Copies an environment file and all existing files that it names, directly or through others. Their relative
    places stay the same.

    Args:
        env: the environment file.
        folder: the destination, which exists.
        texts: values of knobs that replace those of the file.
        extra: further files, named by keywords.

    Returns:
        The path of the copied environment file, relative to `folder`.

    Raises:
        ValueError: too many files, or too large ones.
    """
    env = os.path.abspath(env)
    found = _named_files(env, texts, [os.path.abspath(path) for path in extra])
    common = os.path.commonpath([os.path.dirname(path) for path in found])
    for path in found:
        to = os.path.join(folder, os.path.relpath(path, common))
        os.makedirs(os.path.dirname(to), exist_ok=True)
        shutil.copyfile(path, to)
    return os.path.relpath(env, common)


def _named_files(env: str, texts: dict[str, str], extra: list[str]) -> list[str]:
    waiting, found, size = [env, *extra], {env: None}, 0
    known: dict[str, str] = {}
    while waiting:
        path = waiting.pop()
        found[path] = None
        size += os.path.getsize(path)
        if len(found) > _MOST_FILES or size > _MOST_BYTES:
            raise ValueError(
                f"{env}: it names more than {_MOST_FILES} files, or more than a gigabyte of them"
            )
        if not path.lower().endswith(_READ):
            continue
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
        known.update(_KNOB.findall(text))
        known.update(texts)
        folders = dict.fromkeys([os.path.dirname(path), os.path.dirname(env)])  # knobs name paths from `env`
        for name in _names(text, known):
            name = name.removeprefix("file://")
            for folder in folders:
                for match in _matches(folder, name, os.path.dirname(env)):
                    other = os.path.normpath(match)
                    if os.path.isfile(other) and other not in found:
                        found[other] = None
                        waiting.append(other)
    return sorted(found)


def _matches(folder: str, name: str, own: str) -> list[str]:
    """Returns the paths of a name or a pattern. A pattern stays within the environment's folder `own` and the package's
    data, so that a stranger's file collects nothing else into a folder that is published."""
    if "*" not in name:
        return [os.path.join(folder, name)]
    start = os.path.normpath(os.path.join(folder, os.path.dirname(name.partition("*")[0])))
    if (
        not any(os.path.commonpath([start, root]) == root for root in (own, assets()))
        or ".." in name[name.index("*") :]
    ):
        return []
    return glob.glob(os.path.join(glob.escape(folder), name))


def _names(text: str, known: dict[str, str]) -> set[str]:
    """Returns patterns of the names of files in a text: with the values of knobs, and with any value of those that have
    none."""

    def value(use: re.Match[str]) -> str:
        name, default, old = use.groups()
        found = known.get(name or old or "", default)
        return use[0] if found is None else found

    plain = _ANY.sub("*", _USE.sub(value, text))
    anything = _ANY.sub("*", text)
    return {name for name in (*_NAME.findall(plain), *_NAME.findall(anything)) if not name.startswith("*")}
