#!/usr/bin/env python3
"""Boards and peers that are brought up by hand or by their registers: recv, emulate and fpga as processes.

usage: board_test.py ROCIO [unittest arguments] [--count N]   (N: repetitions of the class Soak)
"""
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

import prbs
import rocio_process
from rocio_process import DEADLINE, Process, address_pair, last_json, run

COUNT = 1
BUSES = ("srp-udp", "srp-rssi", "zmq")


def right(test, result, frames=None):
    code, out, err = result
    test.assertEqual(code, 0, err)
    report = last_json(out)
    test.assertEqual([report[k] for k in ("lost", "duplicated", "corrupt")], [0, 0, 0], err)
    if frames:
        test.assertEqual(report["frames"], frames)
    return report


def address(device):
    return device.split(":")[1]


class ByHand(unittest.TestCase):
    """--connect static: numbers are printed and typed."""

    def end(self, command, device, peer, *args):
        process = Process(command, "--device", device, "--connect", "static", "--peer", address(peer), *args,
                          stdin=subprocess.PIPE)
        line = process.process.stdout.readline()
        self.assertRegex(line, r"^local qpn=0x[0-9a-f]+ rq_psn=0x[0-9a-f]+ sq_psn=0x[0-9a-f]+ gid=[0-9a-f:]+ "
                               r"rkey=0x[0-9a-f]+ addr=0x[0-9a-f]+ length=\d+\n$")
        return process, line

    def type(self, process, line):
        process.process.stdin.write(line)
        process.process.stdin.flush()

    def test_two_ends_are_brought_up_with_each_others_lines(self):
        ours, theirs = address_pair()
        recv, line = self.end("recv", ours, theirs, "--count", "2000", "--json")
        with recv:
            psn = re.search(r"rq_psn=(\S+)", line).group(1)
            board, boards_line = self.end("emulate", theirs, ours, "--sq-psn", psn, "--count", "2000", "--json")
            with board:
                self.type(recv, boards_line)
                recv.wait_for("Ready to receive")
                recv.wait_for("connected: ")
                self.type(board, line)
                self.assertEqual(board.finish()[0], 0)
                right(self, recv.finish(), 2000)

    def test_numbers_from_the_command_line_need_no_typing(self):
        ours, theirs = address_pair()
        recv, line = self.end("recv", ours, theirs, "--rq-psn", "1000", "--count", "100", "--json")
        with recv:
            self.assertIn("rq_psn=0x0003e8", line)
            qpn = re.search(r"local qpn=(\S+)", line).group(1)
            board = Process("emulate", "--device", theirs, "--connect", "static", "--peer", address(ours), "--sq-psn",
                            "1000", "--peer-qpn", str(int(qpn, 16)), "--count", "100")
            with board:
                boards_line = board.process.stdout.readline()
                self.type(recv, f"qpn={re.search('qpn=([^ ]+)', boards_line).group(1)} lkey=0x1234\n")
                right(self, recv.finish(), 100)
                self.assertIn("0x00001234", "".join(recv.seen))

    def test_a_line_that_is_no_answer_and_one_that_never_comes_say_so(self):
        ours, theirs = address_pair()
        recv, _ = self.end("recv", ours, theirs)
        with recv:
            self.type(recv, "queue pair 17\n")
            code, _, err = recv.finish()
            self.assertEqual(code, 1)
            self.assertIn('"queue" is not understood', err)
        recv, _ = self.end("recv", ours, theirs, "--connect-timeout", "200ms")
        with recv:
            self.assertEqual(recv.process.wait(DEADLINE), 1)
            self.assertIn("within 200 ms", recv.process.stderr.read())
        recv, _ = self.end("recv", ours, theirs)
        with recv:
            recv.process.stdin.close()
            recv.process.wait(DEADLINE)
            self.assertEqual(recv.process.returncode, 1)
            self.assertIn("standard input ended", recv.process.stderr.read())
            recv.process.stdin = None

    def test_options_that_do_nothing_are_refused(self):
        for args in (["recv", "--peer", "127.0.0.9"], ["recv", "--connect", "static"],
                     ["recv", "--peer-qpn", "17"], ["emulate", "--rq-psn", "1"],
                     ["recv", "--connect", "static", "--peer", "127.0.0.9", "--peer-qpn", "1"],
                     ["recv", "--bus", "zmq"], ["recv", "--fpga", "slac"], ["recv", "--fpga-ip", "127.0.0.9"]):
            with self.subTest(args=args):
                self.assertNotEqual(run(*args).returncode, 0)


class Frames(unittest.TestCase):
    """emulate --frames: payloads from elsewhere."""

    def send(self, records, *recv_args, as_file=False):
        ours, theirs = address_pair()
        recv = Process("recv", "--device", ours, "--listen", "127.0.0.1:0", "--sessions", "1", "--json", *recv_args)
        with recv:
            where = recv.wait_for(r"waiting for a sender at (\S+)").group(1)
            command = [rocio_process.program, "emulate", "--device", theirs, "--peer", where, "--json", "--frames"]
            if as_file:
                with tempfile.NamedTemporaryFile() as file:
                    file.write(records)
                    file.flush()
                    sent = subprocess.run([*command, file.name], capture_output=True, timeout=DEADLINE)
            else:
                sent = subprocess.run([*command, "-"], input=records, capture_output=True, timeout=DEADLINE)
            self.assertEqual(sent.returncode, 0, sent.stderr)
            _, out, _ = recv.finish()
            return last_json(out)

    def frames(self, bits, n=200, words=40):
        return [prbs.frame(i, words, bits) for i in range(1, n + 1)]

    def counts(self, report):
        return {k: report[k] for k in ("lost", "duplicated", "corrupt")}

    def test_an_independent_generator_agrees_with_the_checker(self):
        for bits in (32, 256):
            for as_file in (False, True):
                with self.subTest(bits=bits, as_file=as_file):
                    records = b"".join(map(prbs.record, self.frames(bits)))
                    report = self.send(records, "--prbs-width", str(bits), as_file=as_file)
                    self.assertEqual(report["frames"], 200)
                    self.assertEqual(self.counts(report), {"lost": 0, "duplicated": 0, "corrupt": 0})

    def check_fault(self, change, expected):
        for bits in (32, 256):
            with self.subTest(bits=bits):
                frames = self.frames(bits)
                change(frames, bits)
                report = self.send(b"".join(map(prbs.record, frames)), "--prbs-width", str(bits))
                self.assertEqual(self.counts(report), {"lost": 0, "duplicated": 0, "corrupt": 0} | expected)

    def test_one_flipped_bit_is_one_corrupt_frame(self):
        def flip(frames, bits):
            damaged = bytearray(frames[50])
            damaged[random.randrange(2 * bits // 8, len(damaged))] ^= 1 << random.randrange(8)
            frames[50] = bytes(damaged)
        self.check_fault(flip, {"corrupt": 1})

    def test_one_missing_frame_is_one_lost(self):
        self.check_fault(lambda frames, _: frames.pop(random.randrange(1, 199)), {"lost": 1})

    def test_one_repeated_frame_is_one_duplicated(self):
        def repeat(frames, _):
            at = random.randrange(1, 199)
            frames.insert(at, frames[at])
        self.check_fault(repeat, {"duplicated": 1})

    def test_frames_of_any_kind_are_judged_by_the_counter_or_not_at_all(self):
        records = b"".join(prbs.record(os.urandom(n), channel=n % 256) for n in (1, 7, 4096, 100))
        report = self.send(records, "--verify", "counter")
        self.assertEqual((report["frames"], report["bytes"]), (4, 4204))
        self.assertEqual(self.counts(report), {"lost": 0, "duplicated": 0, "corrupt": 0})
        report = self.send(records, "--verify", "none")
        self.assertEqual(self.counts(report), {"lost": None, "duplicated": None, "corrupt": 0})
        report = self.send(records, "--verify", "counter", "--counter-wrap", "0")
        self.assertEqual(self.counts(report), {"lost": None, "duplicated": None, "corrupt": 0})

    def test_a_sender_with_one_frame_on_its_way_finds_the_end_too(self):
        ours, theirs = address_pair()
        recv = Process("recv", "--device", ours, "--listen", "127.0.0.1:0", "--sessions", "1", "--json")
        with recv, tempfile.NamedTemporaryFile() as file:
            where = recv.wait_for(r"waiting for a sender at (\S+)").group(1)
            file.write(b"".join(map(prbs.record, self.frames(32, 10))))
            file.flush()
            sent = run("emulate", "--device", theirs, "--peer", where, "--depth", "1", "--frames", file.name)
            self.assertEqual(sent.returncode, 0, sent.stderr)
            right(self, recv.finish(), 10)

    def test_a_file_that_is_none_says_where(self):
        _, theirs = address_pair()
        result = run("emulate", "--device", theirs, "--frames", "/nonexistent")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("/nonexistent", result.stderr)


class Idle(unittest.TestCase):
    def test_a_silent_stream_ends_where_a_limit_says_so(self):
        ours, theirs = address_pair()
        recv = Process("recv", "--device", ours, "--listen", "127.0.0.1:0", "--sessions", "1", "--idle", "300ms", "--json")
        with recv:
            where = recv.wait_for(r"waiting for a sender at (\S+)").group(1)
            with Process("emulate", "--device", theirs, "--peer", where, "--frames", "-", stdin=subprocess.PIPE) as board:
                board.process.stdin.write("".join(map(chr, prbs.record(prbs.frame(1, 3, 32)))))
                board.process.stdin.flush()
                recv.wait_for("stream ended: no frame for 300 ms")
                right(self, recv.finish(), 1)


class SlacCommands:
    """A SLAC board and its receiver as commands."""

    def registers(self, bus, device):
        """zmq has no default of its own on loopback addresses."""
        return ["--registers", f"{address(device)}:10000"] if bus == "zmq" else []

    def board(self, device, bus="srp-udp", *args):
        board = Process("emulate", "--profile", "slac", "--device", device, "--bus", bus, "--json",
                        *self.registers(bus, device), *args)
        board.wait_for("registers at ")
        return board

    def recv_args(self, ours, theirs, bus="srp-udp", *args):
        return ["recv", "--device", ours, "--fpga", "slac", "--fpga-ip", address(theirs), "--bus", bus, "--prbs-base",
                "0x160000", "--json", *self.registers(bus, theirs), *args]

    def recv(self, *args):
        return run(*self.recv_args(*args))

    def finish(self, board):
        board.process.send_signal(signal.SIGINT)
        code, out, err = board.finish()
        self.assertEqual(code, 0, err)
        report = last_json(out)
        self.assertEqual(report["resources_allocated"], 0, err)
        return report

    def connect_stream_and_leave(self, bus, times=2):
        ours, theirs = address_pair()
        with self.board(theirs, bus) as board:
            for _ in range(times):
                result = self.recv(ours, theirs, bus, "--count", "3000")
                right(self, (result.returncode, result.stdout, result.stderr), 3000)
            self.assertEqual(self.finish(board)["connections"], times)


class Slac(SlacCommands, unittest.TestCase):
    """recv --fpga slac and emulate --profile slac, over each bus."""

    def test_connects_streams_leaves_and_connects_again_over_plain_udp(self):
        self.connect_stream_and_leave("srp-udp")

    def test_connects_streams_leaves_and_connects_again_over_rssi(self):
        self.connect_stream_and_leave("srp-rssi")

    def test_connects_streams_leaves_and_connects_again_over_a_memory_bridge(self):
        self.connect_stream_and_leave("zmq")

    def test_the_summary_and_the_status_show_every_number(self):
        ours, theirs = address_pair()
        with self.board(theirs, "srp-udp", "--rate", "2000") as board:
            with Process(*self.recv_args(ours, theirs)) as recv:
                url = recv.wait_for(r"status (http://\S+)").group(1)
                recv.wait_for("Ready to receive")
                recv.wait_for("connected: ")
                with urllib.request.urlopen(url, timeout=DEADLINE) as answer:
                    status = json.load(answer)
                session = status["fpgas"][0]["session"]
                self.assertEqual(session["kind"], "slac")
                self.assertEqual(session["fpga_qpn"], status["streams"][0]["fpga_qpn"])
                self.assertEqual(session["lkey"], status["streams"][0]["fpga_lkey"])
                self.assertNotEqual(session["lkey"], "0x00000000")
                recv.process.send_signal(signal.SIGINT)
                right(self, recv.finish())
            self.finish(board)

    def test_registers_can_be_read_and_written_by_hand(self):
        _, theirs = address_pair()
        with self.board(theirs) as board:
            where = ["--fpga-ip", address(theirs)]
            self.assertEqual(run("fpga", "write", "0x152020", "77", *where).returncode, 0)
            result = run("fpga", "read", "0x152020", *where)
            self.assertEqual((result.returncode, result.stdout), (0, "0x00152020  0x0000004d\n"), result.stderr)
            info = last_json(run("fpga", "info", "--json", *where).stdout)
            self.assertEqual((info["max_size"], info["addr_wrap_count"]), (4096, 77))
            bad = run("fpga", "read", "0x4", *where)
            self.assertEqual(bad.returncode, 1)
            self.assertEqual(bad.stderr.count("\n"), 1, bad.stderr)
            self.finish(board)

    def test_lost_doubled_and_overtaking_control_packets_cost_time_and_nothing_else(self):
        for bus in ("srp-udp", "srp-rssi"):
            for seed in (1, 2):
                with self.subTest(bus=bus, seed=seed):
                    ours, theirs = address_pair()
                    with self.board(theirs, bus, "--control-drop", "0.1", "--control-duplicate", "0.1", "--control-reorder",
                                    "0.1", "--seed", str(seed)) as board:
                        result = self.recv(ours, theirs, bus, "--count", "500")
                        if result.returncode == 0:
                            right(self, (0, result.stdout, result.stderr), 500)
                        else:  # within its deadline, and with the stage named
                            self.assertRegex(result.stderr, "(PD|MR|QP|SoftReset|UDP|arm|disarm|registers)")
                        self.finish(board)

    def test_a_wedged_engine_is_told_by_its_stage_and_helped_by_the_next_soft_reset(self):
        ours, theirs = address_pair()
        with self.board(theirs, "srp-udp", "--wedge", "3") as board:
            result = self.recv(ours, theirs, "srp-udp", "--count", "100")
            self.assertEqual(result.returncode, 1)
            self.assertRegex(result.stderr, r"QP")
            result = self.recv(ours, theirs, "srp-udp", "--count", "100")
            right(self, (result.returncode, result.stdout, result.stderr), 100)
            self.finish(board)

    def test_what_a_crash_left_behind_is_cleared_or_said(self):
        ours, theirs = address_pair()
        with self.board(theirs, "srp-udp", "--stale") as board:
            result = self.recv(ours, theirs, "srp-udp", "--count", "100")
            right(self, (result.returncode, result.stdout, result.stderr), 100)
            self.finish(board)
        ours, theirs = address_pair()
        with self.board(theirs, "srp-udp", "--stale", "--no-soft-reset"):
            result = self.recv(ours, theirs, "srp-udp", "--count", "100")
            self.assertEqual(result.returncode, 1)
            self.assertIn("PD", result.stderr)
            self.assertRegex(result.stderr, "reload|reprogram")

    def test_frames_over_a_path_mtu_never_come(self):
        ours, theirs = address_pair()
        with self.board(theirs) as board:
            with Process(*self.recv_args(ours, theirs, "srp-udp", "--mtu", "1024", "--idle", "3s")) as recv:
                recv.wait_for("connected: ")
                info = last_json(run("fpga", "info", "--json", "--fpga-ip", address(theirs)).stdout)
                self.assertGreater(info["oversize"], 0)
                _, out, _ = recv.finish()
                self.assertEqual(last_json(out)["frames"], 0)
            self.finish(board)

    def test_payloads_come_from_a_file_and_on_the_firmwares_channel_only(self):
        ours, theirs = address_pair()
        frames = [prbs.frame(i, 128, 256) for i in range(1, 301)]
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"".join(map(prbs.record, frames)) + prbs.record(frames[0], channel=2))
            file.flush()
            with self.board(theirs, "srp-udp", "--frames", file.name) as board:
                result = self.recv(ours, theirs, "srp-udp", "--count", "300")
                right(self, (result.returncode, result.stdout, result.stderr), 300)
                board.process.send_signal(signal.SIGINT)
                code, _, err = board.finish()
                self.assertEqual(code, 1)
                self.assertIn("channel 2", err)

    def test_slots_shorter_than_the_boards_frames_are_refused(self):
        ours, theirs = address_pair()
        with self.board(theirs) as board:
            result = self.recv(ours, theirs, "srp-udp", "--payload", "1024")
            self.assertEqual(result.returncode, 1)
            self.assertIn("4096", result.stderr)
            self.assertIn("1024", result.stderr)
            self.finish(board)

    def test_nobody_at_the_registers_is_one_error_within_the_deadline(self):
        ours, theirs = address_pair()
        result = self.recv(ours, theirs, "srp-udp", "--count", "1")
        self.assertEqual(result.returncode, 1)
        self.assertIn(address(theirs), result.stderr)

    def test_a_board_file_says_where_things_are(self):
        ours, theirs = address_pair()
        with self.board(theirs) as board, tempfile.NamedTemporaryFile("w") as file:
            file.write("engine-base = 0x150000 # the default\nsqpn = host\n")
            file.flush()
            result = self.recv(ours, theirs, "srp-udp", "--count", "100", "--board", file.name)
            right(self, (result.returncode, result.stdout, result.stderr), 100)
            file.write("engine-bsae = 1\n")
            file.flush()
            result = self.recv(ours, theirs, "srp-udp", "--board", file.name)
            self.assertEqual(result.returncode, 1)
            self.assertIn("line 3", result.stderr)
            self.finish(board)


SHARED_CPUS = ("--poll", "park")  # three processes on two CPUs: whoever spins takes one from another


class BoardsCommands(SlacCommands):

    def two(self, rate):
        ours, first = address_pair()
        second = f"soft:{address(first)[:-1]}3"
        boards = [self.board(b, "srp-udp", *SHARED_CPUS, "--rate", rate) for b in (first, second)]
        recv = Process("recv", "--device", ours, "--fpga", "slac", "--fpga-ip", address(first), "--fpga-ip",
                       address(second), "--prbs-base", "0x160000", "--json", "--reconnect", "--name", "camera",
                       *SHARED_CPUS)
        return recv, boards

    def frames(self, url):
        with urllib.request.urlopen(url, timeout=DEADLINE) as answer:
            status = json.load(answer)
        return status["process"]["uptime_seconds"], [s["rx_frame_count"] for s in status["streams"]], status

    def rate_of_second(self, url, at_least):
        """Frames per second of the second stream over a stretch of at least so many frames."""
        t0, first, _ = self.frames(url)
        while True:
            time.sleep(0.25)  # asking without a pause would take the CPU that the boards need
            t1, now, _ = self.frames(url)
            if now[1] - first[1] >= at_least:
                return (now[1] - first[1]) / (t1 - t0)

    def steady_rate_of_second(self, url, rate):
        """The same once it has made up for its start: a sender that is behind is faster afterwards."""
        for _ in range(20):
            value = self.rate_of_second(url, rate)
            if abs(value - rate) < 0.01 * rate:
                break
        return value

    def stall_and_kill_one(self, rate):
        recv, boards = self.two(str(rate))
        with recv, boards[0], boards[1]:
            url = recv.wait_for(r"status (http://\S+)").group(1)
            recv.wait_for("connected: ")
            recv.wait_for("connected: ")
            before = self.steady_rate_of_second(url, rate)
            boards[0].process.send_signal(signal.SIGSTOP)
            stalled = self.rate_of_second(url, rate)
            boards[0].process.send_signal(signal.SIGCONT)
            boards[0].process.kill()
            killed = self.rate_of_second(url, rate)
            print(f"asked {rate}, before {before:.0f}, stalled {stalled:.0f}, killed {killed:.0f}", file=sys.stderr)
            for what, value in (("before", before), ("stalled", stalled), ("killed", killed)):
                self.assertGreater(value, 0.95 * rate, f"{what}; before {before}")
                self.assertLess(value, 1.05 * rate, f"{what}; before {before}")
            recv.process.send_signal(signal.SIGINT)
            code, out, err = recv.finish()
            report = last_json(out)
            self.assertEqual([s["name"] for s in report["streams"]], ["camera-0", "camera-1"], err)
            self.assertEqual([report["streams"][1][k] for k in ("lost", "duplicated", "corrupt")], [0, 0, 0])
            self.finish(boards[1])

    def come_back(self, times):
        ours, theirs = address_pair()
        board = self.board(theirs, "srp-udp", "--rate", "3000")
        with Process(*self.recv_args(ours, theirs, "srp-udp", "--reconnect")) as recv:
            url = recv.wait_for(r"status (http://\S+)").group(1)
            recv.wait_for("connected: ")
            descriptors = None
            for n in range(times):
                with board:
                    board.process.kill()
                    board.process.wait(DEADLINE)
                board = self.board(theirs, "srp-udp", "--rate", "3000", *(["--stale"] if n % 2 else []))
                recv.wait_for("connected: ")
                self.frames(url)
                now = len(os.listdir(f"/proc/{recv.process.pid}/fd"))
                descriptors = descriptors or now + 4
                self.assertLessEqual(now, descriptors, f"descriptors leak, after {n + 1} times")
            _, _, status = self.frames(url)
            self.assertGreaterEqual(status["streams"][0]["sessions"], times + 1)
            self.assertGreaterEqual(status["fpgas"][0]["attempts"], times + 1)
            self.assertEqual(status["engines"][0]["queue_pairs"], 1)
            with board:
                recv.process.send_signal(signal.SIGINT)
                _, out, err = recv.finish()
                self.assertEqual(last_json(out)["corrupt"], 0, err)
                self.finish(board)


class Boards(BoardsCommands, unittest.TestCase):
    """Several boards in one process, and boards that come back."""

    def test_stalling_or_killing_one_leaves_the_other_at_its_rate(self):
        self.stall_and_kill_one(1000)

    def test_a_board_that_vanishes_is_picked_up_again(self):
        self.come_back(2)


class HsbCommands:
    """A sensor bridge and its receiver as commands."""

    def sensors(self, device, *args, rate="100", announce="off"):
        board = Process("emulate", "--profile", "hsb", "--device", device, "--rate", rate, "--announce", announce,
                        "--json", *args)
        board.wait_for("HSB board at ")
        return board

    def recv_sensor(self, ours, theirs, *args):
        return run("recv", "--device", ours, "--fpga", "hsb", "--fpga-ip", address(theirs), "--json", *args)

    def connect_receive_and_leave(self, times, *board_args):
        ours, theirs = address_pair()
        with self.sensors(theirs, *board_args) as board:
            for _ in range(times):
                result = self.recv_sensor(ours, theirs, "--count", "50")
                right(self, (result.returncode, result.stdout, result.stderr), 50)
            board.process.send_signal(signal.SIGINT)
            code, out, err = board.finish()
            self.assertEqual(code, 0, err)
            self.assertEqual(last_json(out)["starts"], times)


class Hsb(HsbCommands, unittest.TestCase):
    """recv --fpga hsb, bridge --fpga-ip and emulate --profile hsb."""

    def test_connects_receives_leaves_and_connects_again(self):
        self.connect_receive_and_leave(2)

    def test_does_so_with_a_board_of_the_older_register_layout(self):
        self.connect_receive_and_leave(2, "--ip-version", "0x2510")

    def test_frames_of_many_packets_are_right(self):
        ours, theirs = address_pair()
        with self.sensors(theirs, rate="50"):
            result = self.recv_sensor(ours, theirs, "--payload", "30000", "--count", "50")
            right(self, (result.returncode, result.stdout, result.stderr), 50)

    def test_a_board_is_found_by_its_announcement(self):
        ours, theirs = address_pair()
        where = f"{address(ours)}:12267"
        with self.sensors(theirs, announce=where):
            found = last_json(run("devices", "--hsb", "--seconds", "2", "--announcements", where, "--json").stdout)
            self.assertIn(address(theirs), json.dumps(found))
            result = run("recv", "--device", ours, "--fpga", "hsb", "--announcements", where, "--count", "50", "--json")
            right(self, (result.returncode, result.stdout, result.stderr), 50)

    def test_a_bridge_brings_its_board_up(self):
        ours, theirs = address_pair()
        # So few that all are answered long before the time is over.
        with self.sensors(theirs, "--count", "50"):
            result = run("bridge", "--fpga-ip", address(theirs), "--device", ours, "--forward", "--payload-size", "104",
                         "--timeout", "3", "--json")
            self.assertEqual(result.returncode, 0, result.stderr)
            report = last_json(result.stdout)
            self.assertGreater(report["received"], 0)
            self.assertEqual(report["sent"], report["received"])
            refused = run("bridge", "--fpga-ip", address(theirs), "--device", ours, "--unified", "--timeout", "1")
            self.assertEqual(refused.returncode, 1)
            self.assertIn("--unified", refused.stderr)

    def test_registers_tell_the_version(self):
        _, theirs = address_pair()
        with self.sensors(theirs, "--ip-version", "0x2603"):
            info = last_json(run("fpga", "info", "--bus", "hsb", "--fpga-ip", address(theirs), "--json").stdout)
            self.assertEqual(info["hsb_ip_version"], "0x00002603")

    def test_an_unknown_version_and_nobody_are_one_error(self):
        ours, theirs = address_pair()
        with self.sensors(theirs, "--ip-version", "0x2400"):
            result = self.recv_sensor(ours, theirs, "--count", "1")
            self.assertEqual(result.returncode, 1)
            self.assertIn("0x2400", result.stderr)
        result = self.recv_sensor(ours, theirs, "--count", "1")
        self.assertEqual(result.returncode, 1)
        self.assertIn(address(theirs), result.stderr)


class Soak(BoardsCommands, HsbCommands, unittest.TestCase):
    """Run with --count."""

    def test_connects_streams_and_leaves_over_each_bus(self):
        for bus in BUSES:
            with self.subTest(bus=bus):
                self.connect_stream_and_leave(bus, COUNT)

    def test_a_sensor_bridge_connects_and_leaves(self):
        self.connect_receive_and_leave(COUNT)

    def test_two_boards_at_half_of_what_one_reaches(self):
        ours, theirs = address_pair()
        with self.board(theirs, "srp-udp", *SHARED_CPUS) as board:
            result = self.recv(ours, theirs, "srp-udp", "--seconds", "3", *SHARED_CPUS)
            alone = right(self, (result.returncode, result.stdout, result.stderr))["frames_per_second"]
            self.finish(board)
        print(f"one board alone: {alone:.0f} frames/s", file=sys.stderr)
        # Two senders and the receiver share two cores: at half each, all of both is used up. A short run may have
        # neighbours, which such a rate leaves no room for.
        self.stall_and_kill_one(int(alone * (0.5 if COUNT > 10 else 0.2)))

    def test_a_board_is_picked_up_again_each_time(self):
        self.come_back(max(2, COUNT // 2))


if __name__ == "__main__":
    COUNT = rocio_process.main(sys.argv)
    unittest.main(verbosity=2)
