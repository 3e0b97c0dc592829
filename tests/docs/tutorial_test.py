#!/usr/bin/env python3
"""The commands of docs/tutorial.md work: each block of them that is not marked otherwise is run, with less time.

usage: tutorial_test.py ROCIO RECEIVER

A block is ```sh; "<!-- not run: WHY -->" in front of it leaves it out. A command that ends with & goes on in the
background, as if in another terminal, and is ended with the block.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

from documents import ROOT, read

ROCIO, RECEIVER = (Path(argument).resolve() for argument in sys.argv[1:3])
del sys.argv[1:3]
PAGE = read("docs/tutorial.md")
DEADLINE = 120
READY = r"waiting for a sender|registers at|HSB board at"


def blocks():
    """(whether it is to run, its commands) of every ```sh block."""
    for mark, text in re.findall(r"(?:<!-- (not run: [^>]*) -->\n)?```sh\n(.*?)```", PAGE, re.DOTALL):
        commands = [re.sub(r"\s+#.*", "", line).strip() for line in text.splitlines()]
        yield not mark, [command for command in commands if command and not command.startswith("#")]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Background:
    """A command in another terminal."""

    def __init__(self, command, **options):
        self.said = ""
        self.ready = threading.Event()
        self.process = subprocess.Popen(["bash", "-c", f"exec {command}"], stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, **options)
        self.reader = threading.Thread(target=self.listen)
        self.reader.start()

    def listen(self):
        for line in self.process.stdout:
            self.said += line
            if re.search(READY, line):
                self.ready.set()
        self.ready.set()  # it has ended

    def end(self):
        """Gives what it said."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(timeout=DEADLINE)
        finally:
            self.process.kill()
            self.reader.join()
            self.process.stdout.close()
        return self.said


class Shell:
    """Runs the commands of one block on ports of this test's own."""

    def __init__(self, home):
        ports = {"8080": str(free_port()), "18515": str(free_port())}
        self.replace = [(r"\b(8080|18515)\b", lambda m: ports[m[1]]), (r"--seconds 10\b", "--seconds 1"),
                        (r"^rocio recv(.*) --seconds 1\b", r"rocio recv\1 --seconds 5"),
                        (r"^receiver$", f"receiver soft:127.0.0.2 127.0.0.1:{ports['18515']} {ports['8080']}"),
                        (r"^rocio recv(?!.*--(listen|fpga))", f"rocio recv --listen 127.0.0.1:{ports['18515']}")]
        self.options = {"cwd": ROOT, "env": {**os.environ, "PATH": f"{home}:{os.environ['PATH']}"}}
        self.running = []

    def adapted(self, command):
        for pattern, text in self.replace:
            command = re.sub(pattern, text, command)
        return command

    def start(self, command):
        one = Background(self.adapted(command), **self.options)
        self.running.append((command, one))
        # A sender says nothing while all is well.
        return "--peer" in command or one.ready.wait(DEADLINE)

    def run(self, command):
        return subprocess.run(["bash", "-c", self.adapted(command)], capture_output=True, text=True, timeout=DEADLINE,
                              **self.options)

    def end(self):
        return {command: one.end() for command, one in reversed(self.running)}


class Tutorial(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = Path(folder.name)
        (self.home / "rocio").symlink_to(ROCIO)
        (self.home / "receiver").symlink_to(RECEIVER)

    def check(self, commands):
        shell = Shell(self.home)
        try:
            for command in commands:
                if command.endswith("&"):
                    self.assertTrue(shell.start(command.removesuffix("&").strip()), command)
                    continue
                done = shell.run(command)
                # doctor's status tells whether the machine has a problem.
                right = (0, 1) if command == "rocio doctor" else (0,)
                self.assertIn(done.returncode, right, f"{command}\n{done.stdout}{done.stderr}")
                self.assertTrue(done.stdout, command)
        finally:
            said = shell.end()
        return said

    def test_six_steps(self):
        self.assertEqual(re.findall(r"^## (\d)", PAGE, re.MULTILINE), ["1", "2", "3", "4", "5", "6"])

    def test_every_block_that_can_be_run_works(self):
        to_run = [commands for run, commands in blocks() if run]
        self.assertGreater(len(to_run), 7)
        for commands in to_run:
            if commands[0].startswith("promtool") and not shutil.which("promtool"):
                continue
            with self.subTest(commands=commands):
                self.check(commands)

    def test_the_receiver_prints_what_the_page_says(self):
        commands = next(c for run, c in blocks() if run and c[0] == "receiver &")
        said = self.check(commands)["receiver"]
        self.assertIn("1000 frames, 4096000 bytes; the peer closed the connection", said)

    def test_the_repaired_stream_says_what_the_page_says(self):
        command = next(c[0] for run, c in blocks() if run and "--drop" in c[0])
        said = Shell(self.home).run(command).stdout
        self.assertRegex(said, r"corrupt +0\n")
        self.assertRegex(said, r"retransmits +[1-9]")

    def test_blocks_that_are_not_run_name_commands_and_options_that_are_there(self):
        for run, commands in blocks():
            for command in commands:
                words = command.split()
                if run or words[0] != "rocio":
                    continue
                level = words[1:3] if words[1] == "fpga" else words[1:2]
                page = subprocess.run([ROCIO, *level, "--help"], capture_output=True, text=True, timeout=60).stdout
                for option in re.findall(r"(?<![\w-])--[a-z-]+", command):
                    self.assertRegex(page, rf"(?<![\w-]){option}\b", command)

    def test_shows_the_files_as_they_are(self):
        shown = re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```", PAGE, re.DOTALL)
        self.assertEqual(len(shown), 2)
        for name, text in shown:
            self.assertEqual(text, read(name), name)

    def test_links_lead_somewhere(self):
        for page in ("docs/tutorial.md", "docs/troubleshooting.md", "docs/reference.md"):
            prose = re.sub(r"```.*?```", "", read(page), flags=re.DOTALL)
            for target in re.findall(r"\]\((?!https?:)([^)#]+)", prose):
                self.assertTrue((ROOT / "docs" / target).exists(), f"{page}: {target}")


if __name__ == "__main__":
    unittest.main()
