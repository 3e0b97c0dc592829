#!/usr/bin/env python3
"""CUDA-Q's loop of FPGA, bridge and playback: in one process, and as hsb_test_cpu.sh runs its programs.

usage: cudaq_test.py ROCIO HSB_FOLDER [unittest arguments]
"""
import json
import os
import random
import stat
import subprocess
import sys
import tempfile
import unittest

ROCIO = None
HSB = None
DEADLINE = 120  # of any one command; the sanitizers and a busy machine are slow


def addresses():
    """Two loopback addresses of this test's own."""
    net = f"127.41.{random.randint(100, 250)}"
    block = random.randint(0, 60) * 4
    return f"{net}.{block + 1}", f"{net}.{block + 2}"


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE)


def selftest(*args, devices=True):
    ours, theirs = addresses()
    where = ["--device", f"soft:{theirs}", "--bridge-device", f"soft:{ours}"] if devices else []
    return run(ROCIO, "selftest", "cudaq", *where, *args, "--json")


def last_json(result):
    return json.loads(result.stdout.strip().splitlines()[-1])


class Selftest(unittest.TestCase):
    def passed(self, *args, **kwargs):
        result = selftest(*args, **kwargs)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        report = last_json(result)
        self.assertIs(report["passed"], True)
        self.assertIsNone(report["failure"])
        self.assertEqual(report["matched"] + report["lost"], report["messages"])
        self.assertEqual(report["mismatched"], 0)
        self.assertIn("selftest cudaq PASSED\n", result.stdout)
        return report

    def test_more_messages_than_the_player_holds_go_in_passes(self):
        report = self.passed("--num-messages", "1000")
        self.assertEqual([report[k] for k in ("messages", "matched", "lost", "dispatched")], [1000, 1000, 0, 1000])
        self.assertGreaterEqual(report["passes"], 2)
        self.assertEqual(report["mode"], "3-thread")
        times = [report["latency"][k] for k in ("min_ns", "median_ns", "p99_ns", "p99_9_ns", "max_ns")]
        self.assertEqual(times, sorted(times))
        self.assertGreater(times[0], 0)

    def test_unified(self):
        report = self.passed("--num-messages", "200", "--unified")
        self.assertEqual((report["mode"], report["dispatched"]), ("UNIFIED", 200))

    def test_forward(self):
        report = self.passed("--num-messages", "200", "--forward")
        self.assertEqual((report["mode"], report["forwarded"], report["dispatched"]), ("FORWARD", 200, 0))

    def test_other_sizes(self):
        for args in (["--payload-size", "40", "--page-size", "128", "--num-pages", "4"],
                     ["--payload-size", "1", "--page-size", "4096", "--num-pages", "1"],
                     ["--payload-size", "960", "--page-size", "1024", "--num-pages", "16"]):
            with self.subTest(args=args):
                self.passed("--num-messages", "70", *args)

    def test_finds_devices_of_its_own(self):
        report = self.passed("--num-messages", "10", devices=False)
        self.assertTrue(report["device"].startswith("soft:127."))
        self.assertNotEqual(report["device"], report["bridge_device"])

    def assert_lossy(self, report, messages):
        self.assertEqual(report["messages"], messages)
        self.assertGreater(report["lost"], 0)
        self.assertEqual(report["dropped"], report["lost"], "each packet dropped costs its message and no other")
        self.assertIs(report["still_answers"], True)

    def test_lost_packets_are_counted_and_cost_only_themselves(self):
        report = self.passed("--drop", "0.01", "--seed", "3", "--num-messages", "500", "--reply-timeout", "50ms")
        self.assert_lossy(report, 500)

    def test_heavy_losses_in_every_mode(self):
        for mode in ([], ["--unified"], ["--forward"]):
            with self.subTest(mode=mode):
                report = self.passed("--drop", "0.2", "--seed", "8", "--num-messages", "60", "--num-pages", "8",
                                     "--reply-timeout", "50ms", *mode)
                self.assert_lossy(report, 60)

    def test_what_cannot_be_is_refused_in_one_line(self):
        for args, words in ((["--unified", "--forward"], ["--unified", "--forward"]),
                            (["--num-pages", "3"], ["slots", "3"]),
                            (["--page-size", "100"], ["page size", "100"]),
                            (["--num-messages", "0"], ["0 messages"]),
                            (["--fpga-ip", "127.9.9.9"], ["127.9.9.9"]),
                            (["--fpga-ip", "nowhere"], ["nowhere"])):
            with self.subTest(args=args):
                result = selftest(*args)
                self.assertEqual(result.returncode, 1, result.stdout)
                self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
                for word in words:
                    self.assertIn(word, result.stderr)


class Script(unittest.TestCase):
    """hsb_test_cpu.sh with our three programs on soft devices."""

    def script(self, *args):
        ours, theirs = addresses()
        return run(f"{HSB}/hsb_test_cpu.sh", "--emulate", "--device", "soft", "--bridge-ip", ours, "--emulator-ip", theirs,
                   *args)

    def test_passes_in_every_mode(self):
        for mode in ([], ["--unified"], ["--forward"]):
            with self.subTest(mode=mode):
                result = self.script("--num-messages", "20", *mode)
                self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
                self.assertTrue(result.stdout.endswith("*** TEST PASSED ***\n"), result.stdout)
                self.assertIn("RESULT: PASS", result.stdout)
                self.assertIn("[BRIDGE] === Bridge Ready ===", result.stdout)
                self.assertIn("[EMULATOR]   QP Number: 0x", result.stdout)

    def test_needs_no_folder_beside_its_programs_and_keeps_logs_when_told(self):
        result = self.script("--num-messages", "5", "--save-temps", "--bin-dir", HSB)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        kept = [l for l in result.stdout.splitlines() if l.startswith("Logs: ")]
        self.assertEqual(len(kept), 1)
        for name in kept[0].split()[1:]:
            with open(name, encoding="utf-8") as log:
                self.assertIn("QP Number: 0x", log.read())
            os.remove(name)

    def test_refuses_what_cannot_be(self):
        for args, word in ((["--unified", "--forward"], "mutually exclusive"), (["--no-such"], "Unknown option: --no-such"),
                           (["--timeout"], "--timeout needs a value"), (["--bin-dir", "/no/such"], "no hsb_bridge_cpu")):
            with self.subTest(args=args):
                result = run(f"{HSB}/hsb_test_cpu.sh", *args)
                self.assertEqual(result.returncode, 1)
                self.assertIn("ERROR: ", result.stderr)
                self.assertIn(word, result.stderr)
        self.assertEqual(run(f"{HSB}/hsb_test_cpu.sh", "--no-run").returncode, 0)


FAKE = """#!/bin/sh
printf '%s\\n' "$(basename "$0") $*" >> "$(dirname "$0")/calls"
case $0 in
*bridge*) printf '=== Bridge Ready ===\\n  QP Number: 0x1f\\n  RKey: 77\\n  Buffer Addr: 0x80\\n'; exec sleep 60 ;;
*emulator*) printf '  QP Number: 0xab\\n'; exec sleep 60 ;;
*) exit $(cat "$(dirname "$0")/status") ;;
esac
"""


class ScriptCommandLines(unittest.TestCase):
    """The three programs get exactly the command lines that the original script has."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        for name in ("hsb_bridge_cpu", "hsb_fpga_emulator", "hsb_fpga_playback"):
            path = os.path.join(self.folder.name, name)
            with open(path, "w", encoding="utf-8") as file:
                file.write(FAKE)
            os.chmod(path, stat.S_IRWXU)

    def calls(self, *args, status=0):
        with open(os.path.join(self.folder.name, "status"), "w", encoding="utf-8") as file:
            file.write(str(status))
        name = os.path.join(self.folder.name, "calls")
        if os.path.exists(name):
            os.remove(name)
        result = run(f"{HSB}/hsb_test_cpu.sh", "--bin-dir", self.folder.name, "--device", "soft", *args)
        with open(name, encoding="utf-8") as file:
            return result, file.read().splitlines()

    def test_emulated(self):
        result, calls = self.calls("--emulate", "--bridge-ip", "127.0.3.1", "--emulator-ip", "127.0.3.2")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(result.stdout.endswith("\n*** TEST PASSED ***\n"))
        self.assertEqual(calls, [
            "hsb_fpga_emulator --device=soft:127.0.3.2 --port=8193 --bridge-ip=127.0.3.1 --page-size=384",
            "hsb_bridge_cpu --device=soft:127.0.3.1 --peer-ip=127.0.3.2 --remote-qp=0xab --timeout=60 --payload-size=8"
            " --page-size=384 --num-pages=128",
            "hsb_fpga_playback --hsb-ip=127.0.3.2 --bridge-qp=0x1f --bridge-rkey=77 --bridge-buffer=0x80 --page-size=384"
            " --num-pages=128 --num-messages=100 --payload-size=8 --bridge-ip=127.0.3.1 --emulator --control-port=8193"])

    def test_real_fpga_with_everything_set(self):
        result, calls = self.calls("--forward", "--no-verify", "--fpga-ip", "127.0.3.9", "--bridge-ip", "127.0.3.1",
                                   "--timeout", "7", "--num-messages", "3", "--payload-size", "16", "--page-size", "256",
                                   "--num-pages", "32")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(calls, [
            "hsb_bridge_cpu --device=soft:127.0.3.1 --peer-ip=127.0.3.9 --remote-qp=0x2 --timeout=7 --payload-size=16"
            " --page-size=256 --num-pages=32 --forward",
            "hsb_fpga_playback --hsb-ip=127.0.3.9 --bridge-qp=0x1f --bridge-rkey=77 --bridge-buffer=0x80 --page-size=256"
            " --num-pages=32 --num-messages=3 --payload-size=16 --bridge-ip=127.0.3.1 --no-verify --forward"])

    def test_a_playback_that_fails_fails_the_test(self):
        result, calls = self.calls("--emulate", "--unified", status=3)
        self.assertEqual(result.returncode, 3)
        self.assertTrue(result.stdout.endswith("\n*** TEST FAILED ***\n"))
        self.assertTrue(calls[1].endswith(" --unified"))


if __name__ == "__main__":
    ROCIO = sys.argv.pop(1)
    HSB = sys.argv.pop(1)
    unittest.main(verbosity=2)
