"""Runs a list of cases in as few guests as possible: one, and one more after each case that took a guest down."""
import os
import shutil
import time

from . import image, machine
from .results import Results

BOOT_DEADLINE = 90
# Around a case: making and removing its topology, and bringing back what it wrote.
CASE_SLACK = 45


class Session:
    def __init__(self, kernel, programs, work, capture=False, out=print):
        self._kernel, self._programs, self._capture, self._out = kernel, programs, capture, out
        self._work = work
        self._share = work / "share"
        self.results = Results(self._share / "results")

    def run(self, cases):
        self._work.mkdir(parents=True, exist_ok=True)
        with machine.one_guest_at_a_time():
            shutil.rmtree(self._share, ignore_errors=True)
            (self._share / "results").mkdir(parents=True)
            (self._share / "soak").write_text(os.environ.get("ROCIO_SOAK", "") + "\n")
            initramfs = image.build(self._kernel, self._programs, self._work)
            pending = list(cases)
            while pending:
                pending = self._one_guest(initramfs, pending)

    def _one_guest(self, initramfs, pending):
        """Boots a guest for these cases; returns those that it did not come to."""
        self._write_plan(pending)
        console = self._work / "console.log"
        console.unlink(missing_ok=True)
        with machine.Machine(self._kernel, initramfs, self._share, console) as guest:
            done = 0
            while done < len(pending):
                why = self._wait_for(guest, pending[done])
                if why and done and not self.results.started(pending[done]):
                    guest.kill()  # lost between two cases: that is nothing against the one that was to come
                    break
                if why:
                    guest.kill()
                    self.results.fail(pending[done], f"{why}. Its console:\n{guest.console()}")
                self._out(self.results.line(pending[done]))
                done += 1
                if why:
                    break
            else:
                guest.wait(10)
        return pending[done:]

    def _wait_for(self, guest, case):
        """Returns None when the case has a result, else why it never will have one."""
        phase_begin, started = time.monotonic(), False
        while True:
            over = guest.ended()  # asked first: a result written just before the end counts
            if self.results.has(case):
                return None
            if over:
                return f"the guest ended {'during' if started else 'before'} this case"
            if not started and self.results.started(case):
                phase_begin, started = time.monotonic(), True
            limit = case.deadline + CASE_SLACK if started else BOOT_DEADLINE
            if time.monotonic() - phase_begin > limit:
                return f"the guest did not answer for {limit} s {'in' if started else 'before'} this case"
            guest.wait(0.05)

    def _write_plan(self, cases):
        lines = [f"{case.name} {case.topology} {case.mtu} {case.deadline} {int(self._capture)}\n" for case in cases]
        (self._share / "plan").write_text("".join(lines))
