"""The guest's whole file system: busybox, bash, kernel modules, the programs of the cases and their libraries."""
import lzma
import re
import shutil
import subprocess
from pathlib import Path

from .case import FOLDER as CASES
from .host import find, rxe_provider

IN_GUEST = Path(__file__).resolve().parent.parent / "in_guest"
SCRIPT = IN_GUEST.parents[2] / "tools/hsb_test_cpu.sh"
MODULES = ("crc32_generic", "rdma_rxe", "rdma_ucm", "ib_uverbs", "veth", "dummy", "sch_netem", "virtio_pci",
           "9pnet_virtio", "9p")
TOOLS = ("bash", "ip", "tc", "rdma")
_FOLDERS = ("bin", "dev", "proc", "sys", "tmp", "run", "var", "share", "etc/libibverbs.d", "lib/modules", "usr/bin")
# Loaded by name at run time, so that ldd does not show it: pthread_exit and pthread_cancel need it.
_AT_RUN_TIME = ("/lib/x86_64-linux-gnu/libgcc_s.so.1",)
_TERMINALS = ("l/linux", "v/vt100", "v/vt220", "x/xterm", "x/xterm-256color", "s/screen", "d/dumb")


def build(kernel, programs, work):
    """programs: name → file. Returns the path of the initramfs."""
    root = work / "root"
    shutil.rmtree(root, ignore_errors=True)
    for folder in _FOLDERS:
        (root / folder).mkdir(parents=True)
    (root / "var/run").symlink_to("../run")
    (root / "etc/passwd").write_text("root:x:0:0:root:/:/usr/bin/bash\n")
    _busybox(root)
    for name in TOOLS:
        _program(root, name, find(name))
    for name, path in programs.items():
        _program(root, name, path)
    _rxe(root)
    for path in _AT_RUN_TIME:
        _copy(root, path)
    for name in _TERMINALS:
        if Path("/lib/terminfo", name).exists():
            _copy(root, f"/lib/terminfo/{name}")
    _modules(root, kernel)
    shutil.copytree(IN_GUEST, root / "rocio")
    shutil.copytree(CASES, root / "rocio/cases")
    shutil.copy(SCRIPT, root / "rocio")
    shutil.copy(IN_GUEST / "init", root / "init")
    return _archive(root, work / "initramfs")


def _busybox(root):
    shutil.copy(find("busybox"), root / "bin/busybox")
    applets = subprocess.run([find("busybox"), "--list"], capture_output=True, text=True, check=True).stdout.split()
    for name in applets:
        if name not in ("busybox", *TOOLS):
            (root / "bin" / name).symlink_to("busybox")


def _program(root, name, path):
    shutil.copy(path, root / "usr/bin" / name)
    _libraries(root, path)


def _libraries(root, path):
    for library in re.findall(r"(/\S+) \(0x", subprocess.run(["ldd", path], capture_output=True, text=True).stdout):
        _copy(root, library)
        # A build in /tmp is hidden by what the guest mounts there.
        if library.startswith("/tmp/"):
            folder = root / "usr/lib/x86_64-linux-gnu"
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copy(library, folder)


def _copy(root, path):
    target = root / str(path).lstrip("/")
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)


def _rxe(root):
    _copy(root, rxe_provider())
    _libraries(root, rxe_provider())
    _copy(root, "/etc/libibverbs.d/rxe.driver")


def _modules(root, kernel):
    names = []
    for path in map(Path, kernel.modules(MODULES)):
        name = path.name.removesuffix(".xz")
        target = root / "lib/modules" / name
        target.write_bytes(lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes())
        names.append(f"/lib/modules/{name}\n")
    (root / "lib/modules/order").write_text("".join(names))


def _archive(root, target):
    """Not compressed: unpacking costs an emulated processor more than reading."""
    names = "\n".join(["."] + sorted(str(path.relative_to(root)) for path in root.rglob("*")))
    with open(target, "wb") as archive:
        subprocess.run([find("cpio"), "--quiet", "-o", "-H", "newc", "-R", "0:0"], cwd=root, input=names.encode(),
                       stdout=archive, check=True)
    return target
