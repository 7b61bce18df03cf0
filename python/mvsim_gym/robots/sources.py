"""The files that an import may read: those in the folder of the description and in the given packages. YAML of
controllers and properties is read with PyYAML's safe loader, within bounds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mvsim_gym._notices import extra
from mvsim_gym.robots.elements import Element, ImportRobotError, Limits, near, read_limited


class Sources:
    """Resolves file names to paths inside of the given folders, and reads the files within limits."""

    def __init__(self, description: Path, packages: Mapping[str, Path], limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self._packages = {name: Path(folder).resolve() for name, folder in packages.items()}
        for name, folder in self._packages.items():
            if not folder.is_dir():
                raise ImportRobotError(f"--package {name}={packages[name]}: there is no such folder")
        self._home = description.resolve().parent
        for name, folder in _packages_around(self._home).items():
            self._packages.setdefault(name, folder)
        self._roots = [self._home, *self._packages.values()]
        self._left = self.limits.total_bytes
        self._real: dict[str, Path] = {}

    def package(self, name: str, element: Element) -> Path:
        if name in self._packages:
            return self._packages[name]
        hint = near(list(self._packages), name)
        raise element.fault(f"the package '{name}' is not known, expected --package {name}=FOLDER{hint}")

    def knows(self, name: str) -> bool:
        """Returns whether a package is given or stands around the description."""
        return name in self._packages

    def folder_of(self, element: Element) -> Path:
        """Returns the folder of the file that has an element."""
        return self._real.get(element.file, self._home / "x").parent

    def matching(self, name: str, element: Element) -> list[Path]:
        """Returns the sorted files of a name or pattern, relative to the file of the element, else to the
        description."""
        for folder in (self.folder_of(element), self._home):
            whole = Path(name) if Path(name).is_absolute() else folder / name
            if any(letter in name for letter in "*?["):
                if any(letter in str(Path(name).parent) for letter in "*?["):
                    raise element.fault(f"found '{name}', expected a pattern in the name of the file alone")
                found = sorted(self._inside(whole.parent, element).glob(whole.name))
            else:
                found = [whole] if whole.is_file() else []
            if found:
                return [self._inside(path, element) for path in found]
        return []

    def one(self, name: str, element: Element) -> Path:
        found = self.matching(name, element)
        if not found:
            raise element.fault(f"there is no file '{name}'")
        return found[0]

    def mesh(self, uri: str, element: Element) -> Path | None:
        """Returns the file of a mesh's URI (`package://`, `model://`, `file://` or a path); None if it does not
        exist."""
        for scheme in ("package://", "model://"):
            if uri.startswith(scheme):
                name, _, rest = uri.removeprefix(scheme).partition("/")
                if name not in self._packages:
                    return None
                path = self._packages[name] / rest
                return self._inside(path, element) if path.is_file() else None
        found = self.matching(uri.removeprefix("file://"), element)
        return found[0] if found else None

    def beside(self, path: Path, name: str, element: Element) -> Path | None:
        """Returns a file that a file of the import names, relative to its folder; None if it does not exist."""
        found = path.parent / name
        return self._inside(found, element) if found.is_file() else None

    def read(self, path: Path, element: Element | None) -> bytes:
        """Returns the bytes of a file inside of the folders. The total size of all files is bounded."""
        data = read_limited(path, self.limits.file_bytes)
        self._left -= len(data)
        if self._left < 0:
            message = f"the files of this description are larger than {self.limits.total_bytes >> 20} MiB"
            raise element.fault(message) if element else ImportRobotError(f"{path}: {message}")
        self._real[self.shown(path)] = path.resolve()
        return data

    def shown(self, path: Path) -> str:
        """Returns a path for messages: relative to its package, or to the folder of the description."""
        real = path.resolve()
        for name, folder in self._packages.items():
            if real.is_relative_to(folder):
                return f"{name}/{real.relative_to(folder)}"
        return str(real.relative_to(self._home)) if real.is_relative_to(self._home) else str(path)

    def _inside(self, path: Path, element: Element) -> Path:
        real = path.resolve()
        if not any(real.is_relative_to(root) for root in self._roots):
            raise element.fault(
                f"'{path}' is outside of the folders of this import, expected a file in a given package"
            )
        return real


def _packages_around(home: Path) -> dict[str, Path]:
    """Returns the package whose folder has the description, and the packages beside it."""
    found: dict[str, Path] = {}
    for folder in (home, *home.parents[:4]):
        if (folder / "package.xml").is_file():
            found[folder.name] = folder
            for neighbour in sorted(folder.parent.iterdir()):
                # other folders are not read, because they may hold private files
                if (neighbour / "package.xml").is_file():
                    found.setdefault(neighbour.name, neighbour)
            break
    return found


_MAX_BYTES = 1 << 20
_MAX_DEPTH = 40


def parse_yaml(data: bytes, shown: str) -> Any:
    """Returns the value of a document.

    Raises:
        ImportRobotError: the text is no YAML, has aliases or other tags, or exceeds a limit.
    """
    with extra("reading YAML", "robots"):
        import yaml

    if len(data) > _MAX_BYTES:
        raise ImportRobotError(f"{shown}: larger than {_MAX_BYTES >> 20} MiB")
    try:
        depth = 0
        for event in yaml.parse(data, Loader=yaml.SafeLoader):
            if isinstance(event, yaml.AliasEvent):  # nested aliases can grow without bound
                raise ImportRobotError(f"{shown}: found an alias '*', expected none")
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > _MAX_DEPTH:
                raise ImportRobotError(f"{shown}: nested deeper than {_MAX_DEPTH}")
        return yaml.load(data, Loader=yaml.SafeLoader)
    except ImportRobotError:
        raise
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{shown}:{mark.line + 1}:{mark.column + 1}" if mark else shown
        raise ImportRobotError(f"{place}: {getattr(error, 'problem', None) or 'no YAML'}") from None
    except (ValueError, RecursionError, UnicodeError) as error:
        raise ImportRobotError(f"{shown}: {type(error).__name__} in a value") from None
