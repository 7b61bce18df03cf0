"""Copies an environment file and the files that it names to another folder."""

from __future__ import annotations

import glob
import os
import re
import shutil
from collections.abc import Iterable, Mapping
from typing import Any

from mvsim_gym._checks import plain_values
from mvsim_gym._files import all_resources, assets, checked_resources, folders_of
from mvsim_gym.deploy.contract import OF_CONSTRUCTORS
from mvsim_gym.errors import WorldFileError
from mvsim_gym.registration import load_env

_READ = (".xml", ".yaml", ".yml", ".dae", ".sdf", ".urdf", ".obj", ".mtl")
"""Extensions of files that may name further files."""
_STRICT = (".xml", ".yaml", ".yml")
"""Those in which a name that leads outside is an error. Meshes also name files of the machine that made them."""
_COMMENTS = {
    **dict.fromkeys((".xml", ".dae", ".sdf", ".urdf"), re.compile(r"<!--.*?-->", re.DOTALL)),
    **dict.fromkeys((".yaml", ".yml", ".obj", ".mtl"), re.compile(r"(?<!\S)#.*")),
}
_NAME = re.compile(r"[^\s\"'<>=;,()]+\.[A-Za-z0-9_]{1,8}")
_KNOB = re.compile(r"<knob\b[^>]*\bname=\"([^\"]*)\"[^>]*\bvalue=\"([^\"]*)\"")
_USE = re.compile(r"\$(?:\{([^}|]*)(?:\|([^}]*))?\}|\(([^)]*)\))")
_ANY = re.compile(r"\$(?:f?\{[^}]*\}|\([^)]*\))")
"""A part of a name that may differ between worlds."""
_WORD = re.compile(r"(?:\$f?\{(?:\$\{[^{}]*\}|[^{}])*\}|\$\([^)]*\)|[^\s\"'<>=;,()])+")
"""What a name may be a part of; spaces within the braces of a variable do not end it."""
_MOST_FILES, _MOST_BYTES = 10_000, 1 << 30


def copy_env(path: str, own: Mapping[str, Any], folder: str) -> tuple[str, dict[str, Any], list[str]]:
    """Copies an environment file, and what it and its keywords name, into the folder `env` below `folder`.

    Args:
        path: the environment file.
        own: keywords of an environment, as for `gymnasium.make`.

    Returns:
        The environment file, the keywords of the environment alone, and which of these name files. Paths are relative
        to `folder`.

    Raises:
        ValueError: as `copy_files`; or a keyword names a folder of which nothing is used.
    """
    roots = folders_of(own.get("roots", ()))
    kinds = load_env(path, roots).keywords
    kept = {key: value for key, value in plain_values(own).items() if key not in OF_CONSTRUCTORS}
    files = [key for key in kept if kinds.get(key) in {"path", "file"}]
    for key in files:
        kept[key] = [os.path.abspath(name) for name in _list(kept[key])]
    named = [name for key in files for name in kept[key]]
    texts = {key: value for key, value in kept.items() if isinstance(value, str)}
    texts |= {key: kept[key] for key in files}
    to = os.path.join(folder, "env")
    common = copy_files(path, to, texts, named, roots=roots, resources=own.get("resources"))

    def moved(name: str) -> str:
        place = os.path.join("env", os.path.relpath(name, common))
        if not os.path.exists(os.path.join(folder, place)):
            raise ValueError(
                f"export: nothing of '{name}', which a keyword names, is a file of the environment"
            )
        return place

    for key in files:
        places = [moved(name) for name in kept[key]]
        kept[key] = places if isinstance(own[key], list | tuple) else places[0]
    if roots:  # else the copied environment might not read what lay there
        files.append("roots")
        kept["roots"] = ["env"]
    return moved(os.path.abspath(path)), kept, files


def _list(value: Any) -> list[str]:
    return list(value) if isinstance(value, list | tuple) else [value]


def copy_files(
    env: str,
    folder: str,
    texts: Mapping[str, str | list[str]],
    extra: Iterable[str] = (),
    *,
    roots: Iterable[str] = (),
    resources: Mapping[str, str] | None = None,
) -> str:
    """Copies an environment file and all existing files that it names, directly or through others. Their relative
    places stay the same. Only files in folders that the loader may read are copied: the folder above that of the
    environment or of a world, those of `extra`, `roots` and `resources`, and the package's data.

    Args:
        env: the environment file.
        folder: the destination, which exists.
        texts: values of knobs that replace those of the file; a list has those of the worlds in turn.
        extra: files that keywords name, which are copied, and folders, below which the environment may name files.
        roots, resources: as in `mvsim_gym.VectorEnv`.

    Returns:
        The folder that `folder` is the copy of: a file has the same path relative to either.

    Raises:
        WorldFileError: a file names one in another folder.
        ValueError: too many files, or too large ones.
    """
    env = os.path.abspath(env)
    mapped, cache = all_resources(checked_resources("resources", resources))
    allowed = _Folders([assets(), *folders_of(list(roots)), *(place for _, place in mapped), cache])
    allowed.add_above(os.path.dirname(env))
    given = [os.path.abspath(path) for path in extra]
    for path in given:
        allowed.add(os.path.dirname(path))
    found = _named_files(env, texts, [path for path in given if os.path.isfile(path)], allowed)
    common = os.path.commonpath([os.path.dirname(path) for path in found])
    for path in found:
        to = os.path.join(folder, os.path.relpath(path, common))
        os.makedirs(os.path.dirname(to), exist_ok=True)
        shutil.copyfile(path, to)
    return common


class _Folders:
    """Folders whose files may be copied. Links are followed first, as the loader does."""

    def __init__(self, folders: Iterable[str]) -> None:
        self._folders: dict[str, None] = {}
        for folder in folders:
            self.add(folder)

    def add(self, folder: str) -> None:
        self._folders[os.path.realpath(folder)] = None

    def add_above(self, folder: str) -> None:
        """Adds the folder above another one. That one replaces a folder above that is `/`."""
        real = os.path.realpath(folder)
        above = os.path.dirname(real)
        self.add(real if above == os.sep else above)

    def contain(self, path: str) -> bool:
        real = os.path.realpath(path)
        return any(os.path.commonpath([real, folder]) == folder for folder in self._folders)

    @property
    def expected(self) -> str:
        known = ", ".join(folder for folder in self._folders if os.path.isdir(folder))
        return f"expected a file in a folder that the environment may read ({known}); --roots adds one"


def _named_files(
    env: str, texts: Mapping[str, str | list[str]], extra: list[str], allowed: _Folders
) -> list[str]:
    waiting, found, size = [env, *extra], {env: None}, 0
    known: dict[str, str] = {}
    lists = {name: [value] if isinstance(value, str) else value for name, value in texts.items()}
    lists = {name: values for name, values in lists.items() if values}
    worlds = max(map(len, lists.values()), default=1)
    while waiting:
        path = waiting.pop()
        found[path] = None
        size += os.path.getsize(path)
        if len(found) > _MOST_FILES or size > _MOST_BYTES:
            raise ValueError(
                f"{env}: it names more than {_MOST_FILES} files, or more than a gigabyte of them"
            )
        extension = os.path.splitext(path)[1].lower()
        if extension not in _READ:
            continue
        with open(path, encoding="utf-8", errors="replace") as file:
            text = _COMMENTS[extension].sub(_spaces, file.read())
        if "<mvsim_world" in text:
            allowed.add_above(os.path.dirname(path))
        known.update(_KNOB.findall(text))
        folders = dict.fromkeys([os.path.dirname(path), os.path.dirname(env)])  # knobs name paths from `env`
        names: dict[str, int] = {}
        for world in range(worlds):
            own = {name: values[world % len(values)] for name, values in lists.items()}
            names |= _names(text, {**known, **own})
        for name, at in names.items():
            others = _matches(folders, name.removeprefix("file://"), os.path.dirname(env))
            inside = [other for other in others if allowed.contain(other)]
            if others and not inside and "*" not in name and extension in _STRICT:
                line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
                message = f"{path}:{line}:{column}: found the file '{name}', {allowed.expected}"
                raise WorldFileError(message, path, line, column)
            waiting += [other for other in inside if other not in found]
            found.update(dict.fromkeys(inside))
    return sorted(found)


def _spaces(found: re.Match[str]) -> str:
    """Returns spaces in place of a comment, so that positions stay."""
    return re.sub(r"[^\n]", " ", found[0])


def _matches(folders: Iterable[str], name: str, own: str) -> list[str]:
    """Returns the existing files of a name or a pattern. A pattern stays within the environment's folder `own` and the
    package's data, so that a stranger's file collects nothing else into a folder that is published."""
    bounds = _Folders([own, assets()])
    paths: list[str] = []
    for folder in folders:
        if "*" not in name:
            paths.append(os.path.join(folder, name))
        elif ".." not in name[name.index("*") :] and bounds.contain(
            os.path.join(folder, os.path.dirname(name.partition("*")[0]))
        ):
            paths += filter(bounds.contain, glob.glob(os.path.join(glob.escape(folder), name)))
    return [path for path in map(os.path.normpath, paths) if os.path.isfile(path)]


def _names(text: str, known: dict[str, str]) -> dict[str, int]:
    """Returns patterns of the names of files in a text, with the place of each: with the values of knobs, and with any
    value of those that have none."""

    def value(use: re.Match[str]) -> str:
        name, default, old = use.groups()
        found = known.get(name or old or "", default)
        return use[0] if found is None else found

    out: dict[str, int] = {}
    for word in _WORD.finditer(text):
        for form in dict.fromkeys([_ANY.sub("*", _USE.sub(value, word[0])), _ANY.sub("*", word[0])]):
            for name in _NAME.findall(form):
                if not name.startswith("*"):
                    out.setdefault(name, word.start())
    return out
