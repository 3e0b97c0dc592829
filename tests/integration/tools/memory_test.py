#!/usr/bin/env python3
"""The options for memory and threads, in every command that has slots: what they do to the process, and what is said
when the machine does not give it.

usage: memory_test.py ROCIO [unittest arguments]
"""
import json
import os
import re
import resource
import signal
import sys
import unittest
import urllib.request

import rocio_process
from rocio_process import DEADLINE, Process, address_pair, last_json, run

OPTIONS = "--huge-pages --numa-node --prefault --lock-memory --cpu --realtime-priority --poll".split()
NOBODY = 65534


def limited(**limits):
    """What makes a process one of somebody without rights, with these limits (bytes, priority)."""
    def lower():
        for name, value in limits.items():
            resource.setrlimit(getattr(resource, "RLIMIT_" + name.upper()), (value, value))
    return {"preexec_fn": lower, **({"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {})}


def field(pid, name):
    """Of /proc/PID/status."""
    with open(f"/proc/{pid}/status") as lines:
        return re.search(rf"^{name}:\s*(.*)$", lines.read(), re.MULTILINE).group(1)


def status_of(process):
    url = process.wait_for(r"status (http://\S+)").group(1)
    with urllib.request.urlopen(url, timeout=DEADLINE) as answer:
        return json.load(answer)


class Receivers(unittest.TestCase):
    def receiver(self, *args, **options):
        return Process("recv", "--device", address_pair()[0], "--listen", "127.0.0.1:0", "--http", "0", *args, **options)

    def end(self, process):
        process.process.send_signal(signal.SIGINT)
        return process.finish()[2]


class Given(Receivers):
    def test_every_command_with_slots_takes_all_of_them(self):
        for command in (["recv"], ["demo"], ["emulate"], ["serve"], ["call"], ["bridge"], ["selftest", "cudaq"]):
            with self.subTest(command=command):
                said = run(*command, "--help").stdout
                self.assertEqual([o for o in OPTIONS if not re.search(rf"{o}\b", said)], [])

    def test_locked_memory_is_locked_and_in_the_status(self):
        with self.receiver("--lock-memory", "--payload", "4096", "--depth", "64") as recv:
            memory = status_of(recv)["streams"][0]["memory"]
            self.assertEqual(memory["warnings"], [])
            self.assertEqual((memory["locked"], memory["prefaulted"], memory["bytes"]), (True, True, 4096 * 64))
            self.assertGreaterEqual(int(field(recv.process.pid, "VmLck").split()[0]), 256)
            self.end(recv)

    def test_the_main_thread_is_on_its_cpu(self):
        cpu = min(os.sched_getaffinity(0))
        with self.receiver("--cpu", str(cpu)) as recv:
            status_of(recv)
            self.assertEqual(field(recv.process.pid, "Cpus_allowed_list"), str(cpu))
            self.end(recv)

    def test_a_stream_runs_as_ever_in_transparent_huge_pages(self):
        for poll in ("hybrid:5us", "park"):
            result = run("demo", "--count", "500", "--huge-pages", "thp", "--prefault", "--poll", poll, "--json")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(last_json(result.stdout)["frames"], 500)

    def test_the_loop_of_fpga_and_bridge_runs_with_all_of_them(self):
        for mode in ([], ["--unified"], ["--forward"]):
            result = run("selftest", "cudaq", "--count", "50", "--huge-pages", "thp", "--prefault", "--lock-memory", *mode)
            self.assertEqual(result.returncode, 0, result.stderr + result.stdout)


class NotGiven(Receivers):
    def test_a_node_that_does_not_exist_is_a_warning_that_names_those_that_do(self):
        with self.receiver("--numa-node", "1023") as recv:
            status = status_of(recv)
            self.assertRegex(status["streams"][0]["memory"]["warnings"][0], r"NUMA node 1023")
            self.assertRegex("".join(recv.seen) + self.end(recv), r"warning.*stream: NUMA node 1023 was asked for")

    def test_the_bridge_warns_in_every_mode(self):
        for mode in ([], ["--unified"], ["--forward"]):
            result = run("selftest", "cudaq", "--count", "5", "--numa-node", "1023", *mode)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(len(re.findall(r"bridge: NUMA node 1023 was asked for", result.stderr)), 1, result.stderr)

    def test_an_emulated_board_warns(self):
        ours, theirs = address_pair()
        with Process("recv", "--device", ours, "--listen", "127.0.0.1:0", "--sessions", "1") as recv:
            where = recv.wait_for(r"waiting for a sender at (\S+)").group(1)
            sent = run("emulate", "--device", theirs, "--peer", where, "--count", "10", "--numa-node", "1023")
            self.assertEqual(sent.returncode, 0, sent.stderr)
            self.assertIn("NUMA node 1023 was asked for", sent.stderr)

    def test_huge_pages_that_nobody_reserved_are_a_warning_that_names_the_setting(self):
        # More than any machine of a test has reserved.
        result = run("demo", "--count", "10", "--huge-pages", "1G", "--payload", "1048576", "--depth", "2", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        if "used instead" not in result.stderr:
            self.skipTest("this machine has 1 GiB pages reserved")
        self.assertRegex(result.stderr, r"(nr_hugepages|/sys/kernel/mm/hugepages)")

    def test_lock_beyond_the_limit_is_a_warning_with_both_numbers(self):
        with self.receiver("--lock-memory", "--payload", "4096", "--depth", "64", **limited(memlock=65536)) as recv:
            status = status_of(recv)
            self.assertFalse(status["streams"][0]["memory"]["locked"])
            said = "".join(recv.seen) + self.end(recv)
            self.assertRegex(said, r"262144 bytes cannot be locked.*RLIMIT_MEMLOCK allows 65536 bytes")

    def test_priority_beyond_the_limit_is_one_line_that_names_it(self):
        for command in (["demo", "--count", "1"], ["serve"], ["selftest", "cudaq", "--count", "1"]):
            with self.subTest(command=command):
                result = run(*command, "--realtime-priority", "10", **limited(rtprio=0))
                self.assertEqual(result.returncode, 1, result.stderr)
                self.assertRegex(result.stderr, r"real-time priority 10.*RLIMIT_RTPRIO is 0")
                self.assertEqual(len(result.stderr.strip().splitlines()), 1, result.stderr)

    def test_what_cannot_be_parsed_is_refused_with_what_can(self):
        for option, value, allowed in (("--huge-pages", "4M", "2M and 1G"), ("--realtime-priority", "100", "1 to 99"),
                                       ("--numa-node", "-1", "0 to 1023"), ("--poll", "hybrid:1x", "--poll")):
            with self.subTest(option=option):
                result = run("demo", f"{option}={value}")
                self.assertNotEqual(result.returncode, 0)
                self.assertIn(allowed, result.stderr)

    def test_doctor_tells_what_the_machine_allows(self):
        said = run("doctor").stdout
        for subject in ("memlock", "huge pages", "real-time priority"):
            self.assertRegex(said, rf"{subject}: \S")


if __name__ == "__main__":
    rocio_process.main(sys.argv)
    unittest.main()
