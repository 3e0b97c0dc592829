#!/usr/bin/env python3
"""What the rocio command logs, by --log and ROCIO_LOG.

usage: log_test.py ROCIO [TEST…]
"""

import os
import re
import socket
import sys
import unittest

import rocio_process
from rocio_process import Process, address_pair, run

WITH_AN_ENGINE = (["recv"], ["emulate"], ["demo"], ["serve"], ["call"], ["bridge"], ["selftest", "cudaq"],
                  ["bench", "send"], ["bench", "write"], ["bench", "stream"])


def disturb(port, times=1):
    """Says to the rendezvous what is no hello."""
    for _ in range(times):
        with socket.create_connection(("127.0.0.1", port), timeout=rocio_process.DEADLINE) as visitor:
            visitor.sendall(b"x" * 64)
            while True:  # until it is shown the door
                try:
                    if not visitor.recv(64):
                        break
                except ConnectionResetError:
                    break


class Log(unittest.TestCase):
    def disturbed(self, *options, environment=None, times=1):
        """What recv says when strangers come to its door."""
        device, _ = address_pair()
        settings = {key: value for key, value in os.environ.items() if key != "ROCIO_LOG"}
        settings.update(environment or {})
        with Process("recv", "--device", device, "--listen", "127.0.0.1:0", *options, env=settings) as recv:
            port = int(recv.wait_for(r"waiting for a sender at 127\.0\.0\.1:(\d+)").group(1))
            disturb(port, times)
            recv.process.terminate()
            return recv.finish()[2]

    def test_every_command_with_an_engine_takes_level_and_environment(self):
        for command in WITH_AN_ENGINE:
            with self.subTest(command=command):
                self.assertRegex(run(*command, "--help").stdout, r"--log LEVEL\[,ROOM=LEVEL\] \(Env:ROCIO_LOG\)")

    def test_warnings_are_shown_under_their_room(self):
        self.assertRegex(self.disturbed(), r"warning connect: refused 127\.0\.0\.1:\d+: ")

    def test_the_option_sets_the_level(self):
        self.assertNotIn("refused", self.disturbed("--log", "error"))

    def test_a_room_has_a_level_of_its_own(self):
        self.assertNotIn("refused", self.disturbed("--log", "debug,connect=off"))
        self.assertIn("refused", self.disturbed("--log", "off,connect=warning"))

    def test_the_environment_sets_the_level(self):
        self.assertNotIn("refused", self.disturbed(environment={"ROCIO_LOG": "off"}))

    def test_the_option_wins_over_the_environment(self):
        self.assertIn("refused", self.disturbed("--log", "warning", environment={"ROCIO_LOG": "off"}))

    def test_a_flood_of_lines_is_held_back_and_counted(self):
        said = self.disturbed(times=20)
        lines = [line for line in said.splitlines() if "refused" in line]
        repeated = sum(int(n) for n in re.findall(r"\(repeated (\d+) times\)", said))
        alone = [line for line in lines if "repeated" not in line]
        self.assertEqual(len(alone) + repeated, 20, said)
        self.assertLess(len(lines), 20)

    def test_a_level_that_there_is_not_is_refused(self):
        for options, environment in ((["--log", "loud"], {}), ([], {"ROCIO_LOG": "loud"})):
            done = run("recv", *options, env={**os.environ, **environment})
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("debug, info, warning, error and off", done.stderr)

    def summary(self, *options):
        ours, theirs = address_pair()
        with Process("recv", "--device", ours, "--listen", "127.0.0.1:0", "--sessions", "1", *options) as recv:
            port = recv.wait_for(r"waiting for a sender at 127\.0\.0\.1:(\d+)").group(1)
            sent = run("emulate", "--device", theirs, "--peer", f"127.0.0.1:{port}", "--count", "10")
            self.assertEqual(sent.returncode, 0, sent.stderr)
            status, _, said = recv.finish()
            self.assertEqual(status, 0, said)
            return said

    def test_the_summary_of_a_connection_is_a_line_at_info(self):
        said = self.summary("--log", "info", "--name", "detector")
        self.assertRegex(said, r'info stream: RoCEv2 connection of "detector"\n(  .*\n)+  Ready to receive\n')

    def test_by_default_a_connection_is_told_in_one_line(self):
        said = self.summary()
        self.assertNotIn("Ready to receive", said)
        self.assertIn("connected: ", said)


if __name__ == "__main__":
    rocio_process.main(sys.argv)
    unittest.main()
