#!/usr/bin/env python3
"""Drives `rocio emulate --profile cudaq`, and hsb_fpga_emulator, as processes; the bridge is one that never answers.

usage: emulate_cudaq_test.py ROCIO [unittest arguments]
"""
import json
import os
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import unittest

ROCIO = None
DEADLINE = 60  # of any one command; the sanitizers and a busy machine are slow
VP, PLAYER, BRAM, ILA = 0x1000, 0x50000000, 0x50100000, 0x40000000


def address():
    return f"127.42.{random.randint(100, 250)}.{random.randint(1, 120) * 2}"


def run(*arguments, program=None):
    return subprocess.run([program or ROCIO, *arguments], capture_output=True, text=True, timeout=DEADLINE)


def last_json(text):
    return json.loads(text.strip().splitlines()[-1])


class Emulator:
    """A process whose standard output is read line by line, and its control channel."""

    def __init__(self, where, *arguments, command=None):
        command = command or [ROCIO, "emulate", "--profile", "cudaq", "--device", f"soft:{where}", "--port", "0"]
        self.process = subprocess.Popen([*command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.out = ""
        port = int(self.wait_for(r"Control port: (\d+)\n").group(1))
        self.number = int(self.wait_for(r"^  QP Number: 0x([0-9a-f]+)\n").group(1), 16)
        self.wait_for(r"Waiting for RDMA configuration")
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.settimeout(DEADLINE)
        self.socket.connect((where, port))
        self.sequence = 0x100

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def wait_for(self, pattern):
        for line in self.process.stdout:
            self.out += line
            found = re.search(pattern, line)
            if found:
                return found
        raise AssertionError(f"never said {pattern!r}; said: {self.out}")

    def exchange(self, command, *pairs):
        self.sequence += 1
        body = b"".join(struct.pack(">II", *pair) for pair in pairs)
        self.socket.send(struct.pack(">BBHH", command, 1, self.sequence, 0) + body)
        answer = self.socket.recv(4096)
        assert struct.unpack_from(">BBH", answer) == (command, 1, self.sequence)
        return answer

    def write(self, *pairs):
        return self.exchange(0x09, *pairs)[4]

    def read(self, register):
        return struct.unpack_from(">I", self.exchange(0x19, (register, 0)), 10)[0]

    def name_bridge(self, ip):
        host = struct.unpack(">I", socket.inet_aton(ip))[0]
        assert self.write((VP + 0x28, host), (VP + 0x10, 3), (VP + 0x14, 15), (VP, 0x11), (VP + 4, 0x1234)) == 0

    def play(self, windows):
        beats = [(BRAM + bank * 2048 + beat * 4, beat * 16 + bank) for beat in range(windows) for bank in range(16)]
        for at in range(0, len(beats), 180):
            assert self.write(*beats[at:at + 180]) == 0
        assert self.write((PLAYER + 0x0C, 64), (PLAYER + 0x10, windows), (PLAYER + 0x08, 322)) == 0
        return self.write((PLAYER + 0x04, 0x0D))

    def finish(self):
        out, err = self.process.communicate(timeout=DEADLINE)
        self.out += out
        return self.process.returncode, self.out, err


class EmulateCudaq(unittest.TestCase):
    def test_windows_that_nobody_answers_are_counted_and_told_by_the_status(self):
        where = address()
        with Emulator(where, "--passes", "1", "--reply-timeout", "20ms", "--json") as board:
            board.name_bridge("127.42.1.1")
            self.assertEqual(board.play(5), 0)
            status, out, err = board.finish()
        self.assertEqual(status, 1)
        self.assertEqual(err.count("ERROR: Correction timeout for window "), 5)
        self.assertIn("*** EMULATOR: ERRORS DETECTED ***\n", out)
        report = last_json(out)
        counted = {k: report[k] for k in ("frames", "bytes", "passes", "responses", "timeouts", "lost", "corrupt")}
        self.assertEqual(counted, {"frames": 5, "bytes": 320, "passes": 1, "responses": 0, "timeouts": 5, "lost": 5,
                                   "corrupt": 0})
        self.assertEqual(report["device"], f"soft:{where}")
        for key in ("seconds", "frames_per_second", "bytes_per_second", "duplicated", "rnr_naks", "retransmits", "late",
                    "stray", "send_errors", "response_failures", "control_requests"):
            self.assertIn(key, report)

    def test_serves_its_registers_until_it_is_told_to_end(self):
        with Emulator(address()) as board:
            self.assertEqual(board.write((0x80C, 1), (ILA, 1)), 0)
            self.assertEqual(board.read(0x80C), 1)
            self.assertEqual(board.read(0x80), 0)
            self.assertEqual(board.write((0x80E, 1)), 3)
            self.assertEqual(board.play(1), 2)  # no bridge is named yet
            board.process.send_signal(signal.SIGTERM)
            status, out, err = board.finish()
        self.assertEqual(status, 0)
        self.assertIn("ERROR: Player was enabled before QP and RKEY were written", err)
        self.assertIn("Shutdown requested", out)

    def test_fewer_passes_than_asked_for_are_no_success(self):
        with Emulator(address(), "--passes", "3", "--seconds", "0.2") as board:
            self.assertEqual(board.finish()[0], 1)

    def test_two_of_them_on_loopback_addresses_share_a_port(self):
        first, second = address(), address()
        if first == second:
            second = first.rsplit(".", 1)[0] + ".255"
        with Emulator(first) as one:
            port = str(one.socket.getpeername()[1])
            command = [ROCIO, "emulate", "--profile", "cudaq", "--device", f"soft:{second}", "--port", port]
            with Emulator(second, command=command) as two:
                self.assertEqual(two.write((0x20, 7)), 0)
                self.assertEqual(one.read(0x20), 0)
                result = run("emulate", "--profile", "cudaq", "--device", "soft:127.42.99.1", "--port", port, "--listen",
                             second)
        self.assertEqual(result.returncode, 1)
        self.assertIn(f"control channel at UDP {second}:{port}: another process has it", result.stderr)

    def test_options_of_the_other_profile_are_refused(self):
        for arguments in (["--profile", "cudaq", "--payload", "4096"], ["--profile", "cudaq", "--peer", "127.0.0.1:9"],
                          ["--bridge-ip", "10.0.0.1"], ["--profile", "stream", "--passes", "1"]):
            with self.subTest(arguments=arguments):
                result = run("emulate", *arguments)
                self.assertEqual(result.returncode, 2)
                self.assertIn("does nothing with --profile", result.stderr)

    def test_impossible_values_are_told_in_one_line(self):
        device = ["--profile", "cudaq", "--device", f"soft:{address()}", "--port", "0"]
        for arguments in (["--bridge-ip", "nonsense"], ["--page-size", "0"], ["--listen", "127.0.0.1x"],
                          ["--passes", "0"], ["--port", "65536"], ["--vp-address", "0xg"], ["--reply-timeout", "-1"],
                          ["--ib-port", "0"]):
            with self.subTest(arguments=arguments):
                result = run("emulate", *device, *arguments)
                self.assertIn(result.returncode, (1, 2))
                self.assertEqual(result.stdout, "")
                self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
                self.assertIn(arguments[0], result.stderr)


class OriginalName(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.program = os.path.join(self.folder.name, "hsb_fpga_emulator")
        os.symlink(os.path.abspath(ROCIO), self.program)

    def test_ends_with_its_session(self):
        where = address()
        with Emulator(where, command=[self.program, f"--device=soft:{where}", "--port=0", "--bridge-ip=127.42.1.1",
                                      "--page-size=384", "--some-other-option=1"]) as board:
            board.name_bridge("0.0.0.0")
            self.assertEqual(board.play(0), 2)
            status, out, err = board.finish()
        self.assertEqual(status, 1)
        self.assertIn("ERROR: Player was enabled with zero windows", err)
        self.assertTrue(out.startswith("=== HSB FPGA Emulator ===\nIB Device: soft:127."), out)

    def test_help_and_a_device_that_is_not_there(self):
        self.assertEqual(run("--help", program=self.program).returncode, 0)
        result = run("--device=soft:203.0.113.9", program=self.program)
        self.assertEqual(result.returncode, 1)
        self.assertIn("203.0.113.9", result.stderr)


if __name__ == "__main__":
    ROCIO = sys.argv.pop(1)
    unittest.main()
