"""Copies an environment file and the files that it names to another folder."""

from __future__ import annotations

import glob
import os
import re
import shutil
from collections.abc import Iterable, Mapping

from mvsim_gym._files import all_resources, assets, checked_resources, folders_of
from mvsim_gym.errors import WorldFileError

__all__ = ["copy_files"]

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


def copy_files(
    env: str,
    folder: str,
    texts: dict[str, str],
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
        texts: values of knobs that replace those of the file.
        extra: further files, named by keywords.
        roots, resources: as in `mvsim_gym.VectorEnv`.

    Returns:
        The path of the copied environment file, relative to `folder`.

    Raises:
        WorldFileError: a file names one in another folder.
        ValueError: too many files, or too large ones.
    """
    env = os.path.abspath(env)
    mapped, cache = all_resources(checked_resources("resources", resources))
    allowed = _Folders([assets(), *folders_of(list(roots)), *(place for _, place in mapped), cache])
    allowed.add_above(os.path.dirname(env))
    own = [os.path.abspath(path) for path in extra]
    for path in own:
        allowed.add(os.path.dirname(path))
    found = _named_files(env, texts, own, allowed)
    common = os.path.commonpath([os.path.dirname(path) for path in found])
    for path in found:
        to = os.path.join(folder, os.path.relpath(path, common))
        os.makedirs(os.path.dirname(to), exist_ok=True)
        shutil.copyfile(path, to)
    return os.path.relpath(env, common)


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
        """The end of a message."""
        known = ", ".join(folder for folder in self._folders if os.path.isdir(folder))
        return f"expected a file in a folder that the environment may read ({known}); --roots adds one"


def _named_files(env: str, texts: dict[str, str], extra: list[str], allowed: _Folders) -> list[str]:
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
        extension = os.path.splitext(path)[1].lower()
        if extension not in _READ:
            continue
        with open(path, encoding="utf-8", errors="replace") as file:
            text = _COMMENTS[extension].sub(_spaces, file.read())
        if "<mvsim_world" in text:
            allowed.add_above(os.path.dirname(path))
        known.update(_KNOB.findall(text))
        known.update(texts)
        folders = dict.fromkeys([os.path.dirname(path), os.path.dirname(env)])  # knobs name paths from `env`
        for name, at in _names(text, known).items():
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
