#!/usr/bin/env python3
"""The benchmarks with both ends in one process: every mode runs beside its baselines and says what it found.

usage: bench_test.py ROCIO [unittest arguments]
"""
import json
import os
import sys
import tempfile
import unittest
import xml.etree.ElementTree

import rocio_process
from rocio_process import Process, address_pair, last_json, run

LATENCY = "MsgSize n_iterations t_min t_max t_typical t_avg t_stdev percentile_99 percentile_99.9".split()
BANDWIDTH = "MsgSize n_iterations BW_peak BW_average MsgRate".split()
COSTS = "cpu_us_per_message cores_busy allocations_per_message lost ratio measure baselines".split()
SMALL = ("--rounds", "1", "--count", "200")
# Whole process, whole run: what allocates once is above 0 in a short run, one for each message is at least 1.
ONCE_IN_A_WHILE = 0.5


def bench(mode, *args):
    ours, theirs = address_pair()
    result = run("bench", mode, "--device", ours, "--device", theirs, "--json", *args)
    assert result.returncode == 0, result.stderr
    return last_json(result.stdout)


class Modes(unittest.TestCase):
    def assert_row(self, row, measure, allocations=ONCE_IN_A_WHILE):
        self.assertEqual(row["measure"], measure)
        for key in (LATENCY if measure == "latency" else BANDWIDTH) + COSTS:
            self.assertIn(key, row)
        self.assertEqual(row["lost"], 0)
        self.assertGreater(row["ratio"], 0)
        self.assertGreater(row["cpu_us_per_message"], 0)
        self.assertGreater(row["cores_busy"], 0)
        self.assertLess(row["allocations_per_message"], allocations)
        for baseline in row["baselines"]:
            for key in LATENCY if measure == "latency" else BANDWIDTH:
                self.assertIn(key, baseline)
            self.assertGreater(baseline["ratio"], 0)
        if measure == "latency":
            ordered = [row[key] for key in ("t_min", "t_typical", "percentile_99", "percentile_99.9", "t_max")]
            self.assertEqual(ordered, sorted(ordered))
            self.assertGreater(ordered[0], 0)
        else:
            self.assertGreaterEqual(row["BW_peak"] * 1.0001, row["BW_average"])
            self.assertGreater(row["BW_average"], 0)

    def test_every_operation_has_a_latency_and_a_bandwidth_beside_raw_udp(self):
        for mode in ("send", "send-imm", "write", "write-imm", "read"):
            with self.subTest(mode=mode):
                report = bench(mode, *SMALL)
                self.assertEqual((report["bench"], report["poll"], report["rounds"]), (mode, "spin", 1))
                latency, bandwidth = report["results"]
                self.assert_row(latency, "latency")
                self.assert_row(bandwidth, "bandwidth")
                self.assertEqual((latency["MsgSize"], bandwidth["MsgSize"]), (64, 4096))
                self.assertEqual((latency["n_iterations"], bandwidth["n_iterations"]), (200, 200))
                self.assertEqual([b["name"] for b in latency["baselines"]], ["plain UDP"])
                self.assertEqual([b["name"] for b in bandwidth["baselines"]], ["plain UDP", "segmented UDP"])

    def test_event_sleeps(self):
        report = bench("event", *SMALL)
        self.assertEqual(report["poll"], "park")
        self.assertEqual(len(report["results"]), 1)
        self.assert_row(report["results"][0], "latency")

    def test_stream_compares_its_frames_and_has_both_baselines(self):
        report = bench("stream", "--rounds", "2", "--count", "5000")
        [row] = report["results"]
        self.assert_row(row, "bandwidth")
        self.assertEqual(row["n_iterations"], 5000)
        self.assertEqual([b["name"] for b in row["baselines"]], ["plain UDP", "segmented UDP"])

    def test_stream_of_small_and_of_large_frames(self):
        for size in ("1", "60", "9000", "100000"):
            with self.subTest(size=size):
                self.assert_row(bench("stream", *SMALL, "--size", size)["results"][0], "bandwidth")

    def test_stream_asleep(self):
        self.assert_row(bench("stream", *SMALL, "--poll", "park")["results"][0], "bandwidth")

    def test_rpc_loses_no_call(self):
        report = bench("rpc", *SMALL)
        [row] = report["results"]
        self.assert_row(row, "latency")
        self.assertEqual((report["lost"], report["count"], report["size"]), (0, 200, 64))
        for key in ("call_p50_us", "call_p99_us", "call_p999_us"):
            self.assertGreater(report[key]["ratio"], 0)

    def test_udp_alone(self):
        report = bench("udp", *SMALL, "--milliseconds", "50")
        latency, bandwidth = report["results"]
        self.assertEqual((latency["measure"], bandwidth["measure"]), ("latency", "bandwidth"))
        self.assertEqual([b["name"] for b in bandwidth["baselines"]], ["segmented UDP"])

    def test_a_sweep_has_a_row_for_each_size(self):
        report = bench("send", "--rounds", "1", "--count", "3", "-a", "--measure", "latency")
        sizes = [row["MsgSize"] for row in report["results"]]
        self.assertEqual(sizes, [2 ** n for n in range(1, len(sizes) + 1)])
        self.assertGreaterEqual(sizes[-1], 4096)
        for row in report["results"]:
            self.assert_row(row, "latency", allocations=1000)  # three messages: what happens once counts

    def test_many_queue_pairs_and_batches(self):
        for mode in ("send-imm", "write", "read"):
            with self.subTest(mode=mode):
                report = bench(mode, *SMALL, "--measure", "bandwidth", "--qps", "5", "--batch", "8")
                self.assertEqual((report["qps"], report["batch"]), (5, 8))
                self.assert_row(report["results"][0], "bandwidth")

    def test_a_time_instead_of_a_count(self):
        row = bench("send", "--rounds", "1", "--seconds", "100ms", "--measure", "latency")["results"][0]
        self.assert_row(row, "latency")
        self.assertGreaterEqual(row["n_iterations"], 20)

    def test_an_open_loop_takes_as_long_as_its_schedule(self):
        for mode in ("send", "read", "write-imm", "event"):
            with self.subTest(mode=mode):
                report = bench(mode, *SMALL, "--rate", "2000")
                self.assertEqual(report["rate"], 2000)
                [row] = report["results"]
                self.assert_row(row, "latency")

    def test_a_rate_that_cannot_be_kept_shows_in_the_latency(self):
        # Ten million are due a second: the last of 500 is sent long after it was due, and that counts.
        report = bench("send", "--rounds", "1", "--count", "500", "--rate", "10000000")
        [row] = report["results"]
        closed = bench("send", "--rounds", "1", "--count", "500", "--measure", "latency")["results"][0]
        self.assertGreater(row["t_max"], 2 * closed["t_min"])


class TwoProcesses(unittest.TestCase):
    def both(self, mode, *args):
        ours, theirs = address_pair()
        with Process("bench", mode, "--device", ours, "--listen", "127.0.0.1:0", "--json", *args) as first:
            where = first.wait_for(r"waiting for the other side at (\S+)").group(1)
            second = run("bench", mode, "--device", theirs, "--peer", where, "--json", *args)
            code, out, err = first.finish()
        self.assertEqual((code, second.returncode), (0, 0), err + second.stderr)
        return last_json(out), last_json(second.stdout)

    def test_every_operation_and_measure(self):
        for mode in ("send-imm", "write", "write-imm", "read", "event"):
            for measure in ("latency", "bandwidth"):
                with self.subTest(mode=mode, measure=measure):
                    _, report = self.both(mode, "--count", "300", "--measure", measure)
                    self.assertEqual((report["bench"], report["measure"]), (mode, measure))
                    for key in LATENCY if measure == "latency" else BANDWIDTH:
                        self.assertIn(key, report)

    def test_several_queue_pairs(self):
        for report in self.both("send-imm", "--count", "300", "--measure", "bandwidth", "--qps", "4"):
            self.assertEqual(report["n_iterations"], 300)

    def test_an_open_loop(self):
        _, report = self.both("send", "--count", "100", "--rate", "2000")
        self.assertGreater(report["t_min"], 0)


class Files(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def file(self, name):
        return os.path.join(self.directory.name, name)

    def test_the_report_is_what_json_prints(self):
        printed = bench("send", *SMALL, "--measure", "latency", "--report", self.file("report.json"))
        with open(self.file("report.json"), encoding="utf-8") as report:
            self.assertEqual(json.load(report), printed)

    def test_a_histogram_is_a_well_formed_picture_or_page(self):
        for name in ("latency.svg", "latency.html"):
            with self.subTest(name=name):
                bench("send", *SMALL, "--measure", "latency", "--histogram", self.file(name))
                root = xml.etree.ElementTree.parse(self.file(name)).getroot()
                pictures = [e for e in root.iter() if e.tag.endswith("svg")]
                self.assertEqual(len(pictures), 1 if name.endswith("svg") else 2)  # raw UDP and rocio

    def test_a_table_without_json(self):
        ours, theirs = address_pair()
        result = run("bench", "send", "--device", ours, "--device", theirs, *SMALL)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        lines = result.stdout.splitlines()
        self.assertEqual(len(lines), 6)  # what it is, columns, figures: of the latency, of the bandwidth
        for title in ("t_min", "t_max", "t_typical", "t_avg", "t_stdev", "99%", "99.9%", "ratio"):
            self.assertIn(title, lines[1])
        for title in ("BW peak", "BW average", "MsgRate", "ratio"):
            self.assertIn(title, lines[4])


class Scale(unittest.TestCase):
    def test_every_point_has_its_costs(self):
        result = run("bench", "scale", "--rounds", "1", "--count", "500", "--largest", "64", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = last_json(result.stdout)["results"]
        points = [(r["queue_pairs"], r["peers"], r["contexts"]) for r in rows]
        self.assertEqual(points, [(1, 1, 1), (16, 1, 1), (64, 1, 1), (64, 4, 1), (64, 16, 1), (64, 64, 1),
                                  (64, 4, 1), (64, 4, 2), (64, 4, 4)])
        for row in rows:
            self.assertGreater(row["ns_per_message"], 0)
            self.assertGreater(row["cpu_us_per_message"], 0)
            self.assertGreater(row["ratio"], 0)
            self.assertGreaterEqual(row["bytes_per_queue_pair"], 0)
        self.assertEqual(rows[0]["ratio"], 1)


class BadOptions(unittest.TestCase):
    def test_what_is_not_possible_is_said_in_one_line(self):
        ours, theirs = address_pair()
        pair = ["--device", ours, "--device", theirs]
        for args, words in ((["send", "--device", ours], ["--device", "--listen"]),
                            (["send", "--device", ours, "--device", "mlx5_9"], ["--listen"]),
                            (["send", "--device", "mlx5_9"], ["mlx5_9"]),
                            (["write", *pair, "--poll", "park"], ["park", "spin"]),
                            (["write", *pair, "--rate", "100"], ["--rate"]),
                            (["send", *pair, "--rate", "100", "--measure", "bandwidth"], ["--rate", "bandwidth"]),
                            (["send", *pair, "--rate", "1"], ["--rate"]),
                            (["send", *pair, "--plain"], ["--plain"]),
                            (["send", *pair, "--measure", "speed"], ["--measure", "speed"]),
                            (["send", *pair, "-a", "--size", "64"], ["-a", "--size"]),
                            (["send", *pair, "-a", "--histogram", "x.svg"], [".html"]),
                            (["send", *pair, "--histogram", "x.png"], ["x.png", ".svg"]),
                            (["send", *pair, "--count", "5", "--seconds", "1"], ["--count", "--seconds"]),
                            (["send", *pair, "--count", "0"], ["--count", "0"]),
                            (["send", *pair, "--qps", "0"], ["--qps"]),
                            (["send", *pair, "--tx-depth", "4", "--batch", "5"], ["--batch", "--tx-depth"]),
                            (["send", *pair, "--cpu", "0", "--cpu", "9999"], ["--cpu", "9999"]),
                            (["send", *pair, *SMALL, "--report", "/nowhere/r.json"], ["/nowhere/r.json"]),
                            (["send", "--device", ours, "--listen", "127.0.0.1:0", "-a"], ["-a", "--listen"]),
                            (["event", *pair, "--poll", "spin"], ["--poll"]),
                            (["scale", "--largest", "0"], ["--largest"]),
                            (["nonsense"], ["subcommand"])):
            with self.subTest(args=args):
                result = run("bench", *args, "--json") if args[0] != "nonsense" else run("bench", *args)
                self.assertNotEqual(result.returncode, 0)
                self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
                for word in words:
                    self.assertIn(word, result.stderr)

    def test_every_mode_has_help(self):
        for mode in ("soft", "rpc", "udp", "send", "send-imm", "write", "write-imm", "read", "event", "stream", "scale"):
            result = run("bench", mode, "--help")
            self.assertEqual(result.returncode, 0)
            self.assertIn("--help", result.stdout)


if __name__ == "__main__":
    rocio_process.main(sys.argv)
    unittest.main()
