"""Debian's kernel package: fetched by name, unpacked once, kept in the user's cache for other clones."""
import os
import re
import subprocess
import tempfile
from pathlib import Path

from .host import Unavailable, find

_META_PACKAGE = "linux-image-amd64"


class Kernel:
    def __init__(self, folder):
        self.folder = folder
        modules = folder / "lib/modules"
        if not modules.is_dir():
            modules = folder / "usr/lib/modules"
        self.version = next(modules.iterdir()).name
        self.image = next((folder / "boot").glob("vmlinuz-*"))

    def modules(self, names):
        """The files of these modules and of all they need, in the order of loading."""
        files = []
        for name in names:
            shown = subprocess.run([find("modprobe"), "-d", self.folder, "-S", self.version, "--show-depends", name],
                                   capture_output=True, text=True)
            if shown.returncode != 0:
                raise Unavailable(f"kernel {self.version} has no module {name}: {shown.stderr.strip()}")
            files += [line.split()[1] for line in shown.stdout.splitlines() if line.startswith("insmod ")]
        return list(dict.fromkeys(files))


def cache_folder():
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "rocio" / "vm"


def get():
    """The kernel that apt would install today; without a network, the newest one fetched before."""
    cache = cache_folder()
    try:
        package, version = _candidate()
        folder = cache / f"{package}_{version}".replace(":", "_")
        if not folder.is_dir():
            _fetch(package, folder)
        return Kernel(folder)
    except Unavailable:
        fetched = sorted(cache.glob("linux-image-*"), key=lambda path: path.stat().st_mtime)
        if not fetched:
            raise
        return Kernel(fetched[-1])


def _candidate():
    """apt's kernel image: ("linux-image-6.1.0-57-amd64", "6.1.192-3")."""
    depends = _apt("apt-cache", "depends", _META_PACKAGE)
    package = re.search(r"Depends: (linux-image-\d\S*)", depends)
    version = package and re.search(r"Candidate: (\d\S*)", _apt("apt-cache", "policy", package.group(1)))
    if not version:
        raise Unavailable(f"apt does not know {_META_PACKAGE}, Debian's kernel; run apt-get update on a Debian system")
    return package.group(1), version.group(1)


def _apt(*command):
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}).stdout


def _fetch(package, folder):
    folder.parent.mkdir(parents=True, exist_ok=True)
    print(f"fetching {package} into {folder.parent}", flush=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="fetch-") as work:
        got = subprocess.run(["apt-get", "download", package], cwd=work, capture_output=True, text=True)
        packages = list(Path(work).glob("*.deb"))
        if got.returncode != 0 or not packages:
            why = (got.stderr.strip().splitlines() or ["no file came"])[-1]
            raise Unavailable(f"apt-get download {package} failed: {why}; run apt-get update, then try again")
        root = Path(work) / "root"
        subprocess.run([find("dpkg"), "-x", packages[0], root], check=True)
        version = next(path for place in ("lib/modules", "usr/lib/modules") if (root / place).is_dir()
                       for path in (root / place).iterdir()).name
        subprocess.run([find("depmod"), "-b", root, version], check=True)
        try:
            root.rename(folder)
        except OSError:  # another run was faster
            if not folder.is_dir():
                raise
