"""One QEMU machine, which ends with this process, and the lock that keeps guests from running beside each other."""
import contextlib
import fcntl
import os
import re
import subprocess
import time
from pathlib import Path

from .host import find

LOCK = "/tmp/rocio-guest.lock"  # one guest at a time on a host: two would starve each other past every deadline
PROCESSORS = 2


@contextlib.contextmanager
def one_guest_at_a_time():
    try:
        lock = os.open(LOCK, os.O_RDONLY | os.O_CREAT, 0o644)
    except PermissionError:  # the file of another user in a sticky folder: may be opened, not created
        lock = os.open(LOCK, os.O_RDONLY)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"waiting for another guest to end ({LOCK})", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def command(kernel, initramfs, share, mode, console):
    """console: a file, or None for this terminal."""
    append = f"console=ttyS0 quiet panic=-1 oops=panic mitigations=off tsc=reliable TERM=linux rocio={mode}"
    serial = ["-nographic"]
    if console is not None:
        serial = ["-display", "none", "-monitor", "none", "-serial", f"file:{console}"]
    return [find("setpriv"), "--pdeathsig", "KILL", find("qemu-system-x86_64"), "-M", "q35", "-cpu", "max",
            "-accel", "tcg,thread=multi", "-smp", str(PROCESSORS), "-name", "guest,debug-threads=on", "-m", "1024",
            "-nic", "none", "-no-reboot", *serial, "-kernel", kernel.image, "-initrd", initramfs, "-append", append,
            "-virtfs", f"local,path={share},mount_tag=host,security_model=none"]


def processor_threads(process, proc=Path("/proc")):
    """Number of the guest's processor → thread of this QEMU process."""
    threads = {}
    for name in proc.glob(f"{process}/task/*/comm"):
        with contextlib.suppress(OSError):
            if found := re.match(r"CPU (\d+)/", name.read_text()):
                threads[int(found.group(1))] = int(name.parent.name)
    return threads


class Machine:
    """A guest in the background; its console goes to a file. Leaving the context ends it."""

    def __init__(self, kernel, initramfs, share, console):
        self._console = console
        self._process = subprocess.Popen(command(kernel, initramfs, share, "run", console), stdin=subprocess.DEVNULL,
                                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

        self._give_processors()

    def _give_processors(self, seconds=10):
        """One of the host's for each of the guest's: two programs that poll for each other's messages wait a time slice
        for each of them while a busy host runs both on one of its processors."""
        own, end = sorted(os.sched_getaffinity(0)), time.monotonic() + seconds
        while len(own) >= PROCESSORS and not self.ended() and time.monotonic() < end:
            threads = processor_threads(self._process.pid)
            if len(threads) == PROCESSORS:
                for number, thread in threads.items():
                    os.sched_setaffinity(thread, {own[number]})
                return
            self.wait(0.05)

    def ended(self):
        return self._process.poll() is not None

    def wait(self, seconds):
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)

    def kill(self):
        self._process.kill()
        self._process.wait()

    def console(self, lines=60):
        """The last lines of the console, and of what QEMU itself said if it has ended."""
        text = self._console.read_text(errors="replace") if self._console.exists() else ""
        if self.ended():
            text += self._process.stdout.read()
        return "\n".join(line.rstrip() for line in text.splitlines()[-lines:])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if not self.ended():
            self.kill()
        self._process.stdout.close()
