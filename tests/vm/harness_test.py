#!/usr/bin/env python3
"""Tests of the harness itself, without QEMU: case headers, what a lost guest means, reasons for not running."""
import contextlib
import io
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from harness import case, commands, host, machine, session  # noqa: E402
from harness.results import Results  # noqa: E402

HEADER = """#!/usr/bin/env bash
# about: what it shows
# topology: rxe_pair
# mtu: 1500
# deadline: 20
# programs: rping ibv_devinfo
# targets: rocio
true
"""


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def case(self, name="some_case", text=HEADER):
        path = self.folder / f"{name}.sh"
        path.write_text(text)
        return case.read(path)


class Header(Folder):
    def test_says_where_the_case_runs_and_what_it_needs(self):
        some = self.case()
        self.assertEqual((some.name, some.about, some.topology, some.mtu, some.deadline),
                         ("some_case", "what it shows", "rxe_pair", 1500, 20))
        self.assertEqual((some.programs, some.targets), (("rping", "ibv_devinfo"), ("rocio",)))

    def test_ends_at_the_first_line_of_another_form(self):
        some = self.case(text=HEADER.replace("true\n", "true\n# mtu: 9000\n"))
        self.assertEqual(some.mtu, 1500)

    def test_without_a_deadline_is_refused(self):
        with self.assertRaisesRegex(ValueError, "deadline"):
            self.case(text=HEADER.replace("# deadline: 20\n", ""))

    def test_with_a_misspelt_key_is_refused(self):
        with self.assertRaisesRegex(ValueError, "program"):
            self.case(text=HEADER.replace("programs", "program"))

    def test_has_no_further_labels_unless_it_names_some(self):
        self.assertEqual(self.case().labels, ())
        self.assertEqual(self.case(text=HEADER.replace("true\n", "# labels: soak slow\ntrue\n")).labels, ("soak", "slow"))

    def test_with_an_unknown_topology_is_refused(self):
        with self.assertRaisesRegex(ValueError, "rxe_ring.*rxe_pair"):
            self.case(text=HEADER.replace("rxe_pair", "rxe_ring"))


class Tree(unittest.TestCase):
    def test_every_case_has_a_good_header(self):
        self.assertGreater(len(case.all_cases()), 5)

    def test_every_case_is_valid_bash(self):
        for each in case.all_cases():
            checked = subprocess.run(["bash", "-n", each.path], capture_output=True, text=True)
            self.assertEqual(checked.returncode, 0, checked.stderr)

    def test_every_topology_that_a_header_may_name_is_one_that_the_guest_can_make(self):
        script = (HERE / "in_guest/topology.sh").read_text()
        for topology in case.TOPOLOGIES:
            self.assertRegex(script, rf"(?m)^    {topology}\)")

    def test_a_case_of_another_name_is_refused(self):
        with self.assertRaisesRegex(ValueError, "no_such_case"):
            case.named(["no_such_case"])


class ScriptedMachine:
    """A guest that works through the plan and dies where the script says: {"a": "during"}."""

    boots = 0

    def __init__(self, share, dies):
        type(self).boots += 1
        self._plan = [line.split()[0] for line in (share / "plan").read_text().splitlines()]
        self._results, self._dies, self._over = share / "results", dies, False

    def wait(self, _):
        if not self._plan:
            self._over = True
            return
        name = self._plan.pop(0)
        end = self._dies.pop(name, None)
        if end == "before":
            self._over = True
            return
        folder = self._results / name
        folder.mkdir(exist_ok=True)
        (folder / "log").write_text(f"log of {name}\n")
        if end == "during":
            self._over = True
        elif end != "hangs":
            (folder / "status").write_text("3\n" if name.startswith("bad") else "0\n")
            (folder / "seconds").write_text("0.1\n")
        else:
            self._plan.clear()
            self._plan = [name] * 1000
            self._dies[name] = "hangs"

    def ended(self):
        return self._over

    def kill(self):
        self._over = True

    def console(self):
        return "last words of the kernel"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


class Guest(Folder):
    def run_cases(self, names, dies=None):
        ScriptedMachine.boots = 0
        dies = dict(dies or {})
        cases = [self.case(name) for name in names]
        lines = []
        run = session.Session(kernel=None, programs={}, work=self.folder / "work", out=lines.append)
        make = lambda _kernel, _image, share, _console: ScriptedMachine(share, dies)  # noqa: E731
        with mock.patch.object(session.machine, "Machine", make), \
                mock.patch.object(session.machine, "one_guest_at_a_time", contextlib.nullcontext), \
                mock.patch.object(session.image, "build", lambda *_: None):
            run.run(cases)
        return {each.name: run.results.status(each) for each in cases}, run.results, cases, lines

    def test_runs_all_cases_in_one_boot(self):
        status, _, _, lines = self.run_cases(["a", "bad_b", "c"])
        self.assertEqual(status, {"a": 0, "bad_b": 3, "c": 0})
        self.assertEqual(ScriptedMachine.boots, 1)
        self.assertEqual([line.split()[:2] for line in lines],
                         [["passed", "a"], ["FAILED", "bad_b"], ["passed", "c"]])

    def test_that_dies_during_a_case_fails_it_with_the_console_and_a_second_guest_runs_the_rest(self):
        status, results, cases, _ = self.run_cases(["a", "b", "c"], {"b": "during"})
        self.assertEqual(status, {"a": 0, "b": 1, "c": 0})
        self.assertEqual(ScriptedMachine.boots, 2)
        self.assertIn("log of b", results.log(cases[1]))
        self.assertIn("last words of the kernel", results.log(cases[1]))

    def test_that_dies_between_two_cases_fails_neither(self):
        status, _, _, _ = self.run_cases(["a", "b"], {"b": "before"})
        self.assertEqual(status, {"a": 0, "b": 0})
        self.assertEqual(ScriptedMachine.boots, 2)

    def test_that_never_comes_up_fails_every_case(self):
        status, results, cases, _ = self.run_cases(["a", "b"], {"a": "before", "b": "before"})
        self.assertEqual(status, {"a": 1, "b": 1})
        self.assertIn("before this case", results.log(cases[0]))

    def test_that_hangs_in_a_case_is_ended_by_the_deadline(self):
        clock = iter(range(0, 10**6, 5))
        with mock.patch.object(session.time, "monotonic", lambda: next(clock)):
            status, results, cases, _ = self.run_cases(["a", "b"], {"a": "hangs"})
        self.assertEqual(status, {"a": 1, "b": 0})
        self.assertIn(f"did not answer for {20 + session.CASE_SLACK} s", results.log(cases[0]))

    def test_is_told_whether_the_counts_are_full(self):
        for told in ("full", ""):
            with mock.patch.dict(os.environ, {"ROCIO_SOAK": told}):
                self.run_cases(["a"])
            self.assertEqual((self.folder / "work/share/soak").read_text(), f"{told}\n")

    def test_results_of_an_earlier_run_do_not_count(self):
        self.run_cases(["a", "b"])
        status, _, _, _ = self.run_cases(["a"], {"a": "during"})
        self.assertEqual(status, {"a": 1})


class Comparison(Folder):
    """The table that the guest's awk makes of the samples, and the limits on it."""

    def table(self, *samples):
        (self.folder / "samples.txt").write_text("".join(f"{line}\n" for line in samples))
        made = subprocess.run(["awk", "-f", HERE / "in_guest/comparison_table.awk", "samples.txt"], cwd=self.folder,
                              capture_output=True, text=True, check=True)
        return made.stdout.splitlines()

    def ratio(self, who):
        lines = (self.folder / "ratios.txt").read_text().splitlines()
        return next(line.split()[5] for line in lines if line.split()[4] == who)

    def within(self, limit, test="send"):
        script = f"source {HERE}/in_guest/comparison.sh; within {test} park 64 perftest {limit}"
        return subprocess.run(["bash", "-c", script], cwd=self.folder, capture_output=True, text=True)

    def test_shows_medians_in_the_order_of_the_samples(self):
        lines = self.table(*(f"send spin 64 {who} {n} {10 * n + k}" for n in (3, 1, 2)
                             for k, who in enumerate(("perftest", "plain", "rocio", "soft"))),
                           "stream spin 4096 rocio 1 7.5")
        self.assertIn("3 rounds", lines[0])
        self.assertEqual(lines[2].split()[:7], ["send", "spin", "64", "20.0", "21.0", "22.0", "23.0"])
        self.assertEqual(lines[3].split()[:3], ["stream", "spin", "4096"])

    def test_of_an_even_number_takes_the_mean_of_the_two_in_the_middle(self):
        lines = self.table(*(f"send spin 64 rocio {n} {n}" for n in (1, 2, 3, 4)))
        self.assertEqual(lines[2].split()[5], "2.5")

    def test_a_ratio_is_the_median_of_the_rounds_own_ratios(self):
        # The machine is twice as slow in the last round: medians of the columns would give 300 / 200.
        self.table("send spin 64 perftest 1 100", "send spin 64 rocio 1 120", "send spin 64 perftest 2 100",
                   "send spin 64 rocio 2 300", "send spin 64 perftest 3 200", "send spin 64 rocio 3 240")
        self.assertEqual(self.ratio("perftest"), "1.200")

    def test_a_ratio_at_the_limit_passes_and_one_above_fails_with_a_line(self):
        self.table("send park 64 perftest 1 100", "send park 64 rocio 1 125")
        self.assertEqual(self.within("1.25").returncode, 0)
        above = self.within("1.24")
        self.assertEqual(above.returncode, 1)
        self.assertIn("rocio to send park 64 perftest: 1.250, at most 1.24 allowed: TOO SLOW", above.stdout)

    def test_a_ratio_that_was_not_measured_fails(self):
        self.table("send park 64 perftest 1 100", "send park 64 rocio 1 125")
        self.assertEqual(self.within("9", test="write").returncode, 1)
        self.table("send park 64 rocio 1 125")
        self.assertEqual(self.within("9").returncode, 1)


class Processors(unittest.TestCase):
    def test_threads_of_a_guest_are_told_by_their_names(self):
        threads = {"1": "qemu-system-x86", "2": "CPU 0/TCG", "3": "CPU 1/TCG", "4": "worker"}
        with tempfile.TemporaryDirectory() as folder:
            for number, name in threads.items():
                path = Path(folder, "77/task", number, "comm")
                path.parent.mkdir(parents=True)
                path.write_text(f"{name}\n")
            self.assertEqual(machine.processor_threads(77, Path(folder)), {0: 2, 1: 3})
            self.assertEqual(machine.processor_threads(78, Path(folder)), {})


class Host(Folder):
    def test_names_what_is_missing_and_the_line_to_run(self):
        with mock.patch.object(host, "find", lambda name: None if name in ("cpio", "rping") else f"/bin/{name}"):
            with self.assertRaises(host.Unavailable) as raised:
                host.require(["rping"])
        self.assertRegex(str(raised.exception),
                         r"^missing cpio, rping(, \S+)?; run: .*apt-get install .* cpio rdmacm-utils")

    def test_without_a_guest_skips_but_fails_in_ci(self):
        with mock.patch.dict(os.environ, {"CI": "true"}):
            self.assertEqual(host.unavailable_status(), 1)
        with mock.patch.dict(os.environ):
            os.environ.pop("CI", None)
            self.assertEqual(host.unavailable_status(), host.SKIPPED)


class Command(Folder):
    def main(self, *words):
        out = io.StringIO()
        with mock.patch.object(sys, "argv", ["guest", "--build", str(self.folder), *words]), \
                mock.patch.dict(os.environ), contextlib.redirect_stdout(out):
            os.environ.pop("CI", None)
            return commands.main(), out.getvalue()

    def results(self):
        return Results(self.folder / "tests/vm/share/results")

    def test_result_repeats_log_and_status_of_the_fixture_s_run(self):
        folder = self.folder / "tests/vm/share/results/soft_stream"
        folder.mkdir(parents=True)
        (folder / "log").write_text("what the case said\n")
        (folder / "status").write_text("5\n")
        status, out = self.main("result", "soft_stream")
        self.assertEqual(status, 5)
        self.assertIn("what the case said", out)

    def test_result_of_a_case_that_did_not_run_is_a_failure(self):
        status, out = self.main("result", "soft_stream")
        self.assertEqual(status, 1)
        self.assertIn("no result", out)

    def test_fixture_without_qemu_skips_and_so_does_every_case_with_the_reason(self):
        with mock.patch.object(host, "find", lambda _: None):
            self.assertEqual(self.main("fixture", "kernel_rping")[0], host.SKIPPED)
        status, out = self.main("result", "kernel_rping")
        self.assertEqual(status, host.SKIPPED)
        self.assertIn("apt-get", out)

    def test_fixture_fails_only_the_cases_whose_programs_are_not_built(self):
        ran = []
        with mock.patch.object(host, "require", lambda _: None), \
                mock.patch.object(commands.kernel, "get", lambda: None), \
                mock.patch.object(session.Session, "run", lambda _, cases: ran.extend(each.name for each in cases)):
            self.assertEqual(self.main("fixture", "kernel_rping", "soft_stream")[0], 0)
        self.assertEqual(ran, ["kernel_rping"])
        status, out = self.main("result", "soft_stream")
        self.assertEqual(status, 1)
        self.assertIn("needs the target rocio", out)

    def test_run_of_a_case_whose_target_is_not_built_says_how_to_build_it(self):
        (self.folder / "tests/vm").mkdir(parents=True)
        (self.folder / "tests/vm/targets").write_text("rocio\n")
        (self.folder / "tests/vm/programs").write_text("rocio /nowhere/rocio\n")
        with mock.patch.object(host, "require", lambda _: None):
            status, out = self.main("run", "soft_stream")
        self.assertEqual(status, 2)
        self.assertIn("--target rocio", out)

    def test_list_shows_every_case_with_what_it_is_about(self):
        status, out = self.main("list")
        self.assertEqual(status, 0)
        for each in case.all_cases():
            self.assertRegex(out, f"(?m)^{each.name} .*{each.topology}")
            self.assertIn(each.about, out)


if __name__ == "__main__":
    unittest.main()
