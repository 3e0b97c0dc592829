"""What the host must have. Missing things are one sentence and one line to run, never a traceback."""
import os
import platform
import shutil
from pathlib import Path

SKIPPED = 77  # the exit status that ctest knows as "not run"

# Found as an ordinary user too: Debian keeps kmod and iproute2 outside an ordinary user's PATH.
SEARCH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"

_PACKAGE = {"qemu-system-x86_64": "qemu-system-x86", "busybox": "busybox-static", "cpio": "cpio", "modprobe": "kmod",
            "depmod": "kmod", "ip": "iproute2", "tc": "iproute2", "rdma": "iproute2", "rping": "rdmacm-utils",
            "ibv_rc_pingpong": "ibverbs-utils", "ibv_uc_pingpong": "ibverbs-utils", "ibv_devinfo": "ibverbs-utils",
            "ib_send_lat": "perftest", "ib_write_lat": "perftest", "ib_send_bw": "perftest",
            "tcpdump": "tcpdump", "setpriv": "util-linux", "bash": "bash"}
ALWAYS = ("qemu-system-x86_64", "busybox", "cpio", "modprobe", "depmod", "setpriv")
RXE_PROVIDER = "ibverbs-providers"


class Unavailable(Exception):
    """This host cannot run the guest; the text says why and what to do."""


def find(program):
    """The path of a command, or None. Links are kept: kmod and busybox look at how they were called."""
    return shutil.which(program, path=SEARCH)


def rxe_provider():
    """libibverbs' driver for rdma_rxe, which it loads at run time, or None."""
    return next(iter(Path("/usr/lib/x86_64-linux-gnu/libibverbs").glob("librxe-rdmav*.so")), None)


def require(programs):
    if platform.machine() != "x86_64":
        raise Unavailable(f"the guest is an x86-64 machine; this host is {platform.machine()}")
    if not find("apt-get") or not find("dpkg"):
        raise Unavailable("the guest's kernel comes from Debian's archive by apt-get, which this host does not have")
    missing = [program for program in dict.fromkeys((*ALWAYS, *programs)) if not find(program)]
    packages = [_PACKAGE.get(program, program) for program in missing]
    if not rxe_provider():
        missing.append("librxe-rdmav*.so")
        packages.append(RXE_PROVIDER)
    if missing:
        sudo = "" if os.geteuid() == 0 else "sudo "
        packages = " ".join(dict.fromkeys(packages))
        raise Unavailable(f"missing {', '.join(missing)}; run: {sudo}apt-get update && {sudo}apt-get install -y "
                          f"--no-install-recommends {packages}")


def unavailable_status():
    """CI has to run the guest; elsewhere its absence is a skipped test with a reason."""
    return 1 if os.environ.get("CI") == "true" else SKIPPED
