#!/usr/bin/env python3
"""The systemd units and the Containerfile of packaging/ fit the rocio command as it is.

usage: packaging_test.py ROCIO
"""

import configparser
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from documents import ROOT, needs, read

ROCIO = sys.argv.pop(1)
UNITS = ("rocio-recv", "rocio-bridge")
CONTAINERFILE = "packaging/Containerfile"


class Unit(configparser.RawConfigParser):
    """A unit file; of a key that comes several times all values, one a line."""

    def __init__(self, name):
        super().__init__(strict=False, interpolation=None, delimiters=("=",), comment_prefixes=("#", ";"))
        self.optionxform = str
        joined = {}
        for line in read(f"packaging/{name}.service").splitlines():
            if match := re.match(r"(\w+)=(.*)", line):
                joined.setdefault(match[1], []).append(match[2])
        self.all = joined
        self.read_string(read(f"packaging/{name}.service"))

    def command(self):
        """ExecStart with its variables filled in, as systemd does it."""
        values = {}
        for setting in self.all["Environment"]:
            key, _, value = setting.strip('"').partition("=")
            values[key] = value
        words = []
        for word in self.all["ExecStart"][0].split():
            if re.fullmatch(r"\$\w+", word):
                words += shlex.split(values.get(word[1:], ""))
            else:
                words.append(re.sub(r"\$\{(\w+)\}", lambda m: values[m[1]], word))
        return words, values


def options_of(command):
    done = subprocess.run([ROCIO, command, "--help"], capture_output=True, text=True, timeout=60, check=True)
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", done.stdout))


class Units(unittest.TestCase):
    def test_have_the_three_sections(self):
        for name in UNITS:
            self.assertEqual(Unit(name).sections(), ["Unit", "Service", "Install"], name)

    def test_start_a_command_with_options_that_it_has(self):
        for name in UNITS:
            words, _ = Unit(name).command()
            self.assertEqual(words[0], "/usr/local/bin/rocio")
            self.assertEqual(words[1], name.removeprefix("rocio-"))
            given = {word for word in words[2:] if word.startswith("--")}
            self.assertGreater(len(given), 2, name)
            self.assertLessEqual(given, options_of(words[1]), name)

    def test_options_in_comments_are_there_too(self):
        for name in UNITS:
            text = read(f"packaging/{name}.service")
            examples = re.findall(r"^# .*OPTIONS=(.*)$", text, re.MULTILINE)
            self.assertEqual(len(examples), 1, name)
            given = {word for word in examples[0].split() if word.startswith("--")}
            self.assertLessEqual(given, options_of(name.removeprefix("rocio-")), name)

    def test_the_command_takes_its_arguments(self):
        """Values too: a short run on other ports, which fails for want of a peer, not for an option."""
        words, environment = Unit("rocio-recv").command()
        words = [ROCIO, *re.sub(r"(127\.0\.0\.1):\d+", r"\1:0", " ".join(words[1:])).split(), "--seconds", "0.2"]
        environment["ROCIO_DEVICE"] = "soft:127.97.1.1"
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, env={**os.environ, **environment})
        self.assertIn("waiting for a sender", done.stderr)
        self.assertEqual(done.returncode, 1)  # nothing came

    def test_grant_what_a_data_plane_needs(self):
        for name in UNITS:
            service = Unit(name).all
            for key, value in (("LimitMEMLOCK", "infinity"), ("LimitRTPRIO", "50"), ("Restart", "always")):
                self.assertEqual(service[key], [value], name)
            self.assertIn("CPUAffinity", service)

    def test_the_sandbox_lets_verbs_work(self):
        for name in UNITS:
            service = Unit(name).all
            self.assertIn("char-infiniband_verbs rw", service["DeviceAllow"])
            self.assertIn("/dev/infiniband/rdma_cm rw", service["DeviceAllow"])
            self.assertNotIn("PrivateDevices", service)  # it would hide /dev/infiniband
            families = service["RestrictAddressFamilies"][0].split()
            self.assertLessEqual({"AF_INET", "AF_INET6", "AF_NETLINK"}, set(families))
            for key in ("PrivateNetwork", "RestrictRealtime"):
                self.assertNotIn(key, service)

    @needs("systemd-analyze", "systemd")
    def test_systemd_finds_no_fault_with_them(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in UNITS:
                path = Path(folder, f"{name}.service")
                text = read(f"packaging/{name}.service").replace("/usr/local/bin/rocio", ROCIO)
                path.write_text(text, encoding="utf-8")
                done = subprocess.run(["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", str(path)],
                                      capture_output=True, text=True, timeout=60)
                faults = [line for line in done.stderr.splitlines() if name in line]
                self.assertEqual(faults, [])
                self.assertEqual(done.returncode, 0, done.stderr)


class Container(unittest.TestCase):
    def installed(self):
        """The packages of the last stage."""
        stage = read(CONTAINERFILE).split("\nFROM ")[-1]
        words = re.search(r"--no-install-recommends(.*?)&&", stage, re.DOTALL).group(1)
        return set(words.replace("\\", " ").split())

    def test_copies_files_that_are_there(self):
        for line in re.findall(r"^COPY (?!--from)(.*)$", read(CONTAINERFILE), re.MULTILINE):
            self.assertTrue((ROOT / line.split()[0]).exists(), line)

    def test_uses_functions_that_packages_sh_has(self):
        for name in re.findall(r"\brocio_\w+", read(CONTAINERFILE)):
            self.assertIn(f"{name}() {{", read("tools/packages.sh"))

    def test_the_run_lines_have_what_verbs_need(self):
        lines = read(CONTAINERFILE).replace("\\\n#", " ").splitlines()
        runs = [line for line in lines if "--device /dev/infiniband" in line]
        self.assertEqual(len(runs), 2)
        for line in runs:
            self.assertIn("--ulimit memlock=-1", line)
            self.assertIn("--network host", line)

    def test_the_run_lines_give_rocio_options_that_it_has(self):
        text = re.sub(r"\\\n#", " ", read(CONTAINERFILE))
        lines = re.findall(r"^#\s+podman run .*? rocio (\w+)(.*)$", text, re.MULTILINE)
        self.assertEqual(len(lines), 4)
        for command, rest in lines:
            self.assertLessEqual(set(re.findall(r"--[a-z-]+", rest)), options_of(command))

    @unittest.skipUnless(shutil.which("dpkg") and "VERSION_ID=\"12\"" in Path("/etc/os-release").read_text(),
                         "not Debian 12, which the image is made of")
    def test_installs_every_library_that_the_program_is_linked_with(self):
        needed = subprocess.run(["readelf", "-d", ROCIO], capture_output=True, text=True, check=True).stdout
        ours = {"libm.so.6", "libc.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2", "libpthread.so.0", "libdl.so.2"}
        libraries = set(re.findall(r"NEEDED.*\[(.*)\]", needed)) - ours
        libraries = {name for name in libraries if not re.match(r"lib(a|t|ub)san|libclang", name)}
        self.assertGreater(len(libraries), 3)
        for library in libraries:
            found = subprocess.run(["dpkg", "-S", f"*-linux-gnu/{library}"], capture_output=True, text=True)
            packages = {line.split(":")[0] for line in found.stdout.splitlines()}
            self.assertTrue(packages & self.installed(), f"{library} is in {packages or 'no package'}")


if __name__ == "__main__":
    unittest.main()
