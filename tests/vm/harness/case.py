"""A case: a script in tests/vm/cases whose first comment lines say where it runs and what it needs."""
import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "cases"
TOPOLOGIES = ("rxe_pair", "rxe_netns", "soft_pair")
_LINE = re.compile(r"# (\w+): *(.*?) *$")
_KEYS = ("about", "topology", "mtu", "deadline", "programs", "targets", "labels")


@dataclass(frozen=True)
class Case:
    name: str
    path: Path
    about: str
    topology: str
    mtu: int
    deadline: int  # seconds, inside the guest
    programs: tuple  # commands of the host that go into the guest
    targets: tuple  # CMake targets; the executables among them go into the guest
    labels: tuple = ()  # further ones of its ctest entry


def read(path):
    header = {}
    for line in path.read_text().splitlines()[1:]:
        found = _LINE.match(line)
        if not found:
            break
        header[found.group(1)] = found.group(2)
    unknown = sorted(set(header) - set(_KEYS))
    missing = [key for key in _KEYS[:4] if not header.get(key)]
    if unknown or missing:
        raise ValueError(f"{path}: header lacks {missing or 'nothing'}, has unknown {unknown or 'nothing'}")
    if header["topology"] not in TOPOLOGIES:
        raise ValueError(f"{path}: topology {header['topology']} is none of {', '.join(TOPOLOGIES)}")
    return Case(path.stem, path, header["about"], header["topology"], int(header["mtu"]), int(header["deadline"]),
                tuple(header.get("programs", "").split()), tuple(header.get("targets", "").split()),
                tuple(header.get("labels", "").split()))


def all_cases():
    return [read(path) for path in sorted(FOLDER.glob("*.sh"))]


def named(names):
    """The cases of these names, in this order."""
    known = {case.name: case for case in all_cases()}
    for name in names:
        if name not in known:
            raise ValueError(f"no case is called {name}; tests/vm/guest list shows them")
    return [known[name] for name in names]
