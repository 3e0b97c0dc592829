"""Every command with --http shows what it does, in documents that keep to docs/status.schema.json.

usage: status_commands_test.py ROCIO [unittest arguments]
"""
import json
import re
import subprocess
import sys
import time
import unittest
import urllib.error
import urllib.request
from pathlib import Path

import jsonschema

import rocio_process
from rocio_process import DEADLINE, Process, address_pair, run

SCHEMA = json.loads((Path(__file__).resolve().parents[3] / "docs" / "status.schema.json").read_text())
CHECK = jsonschema.Draft202012Validator(SCHEMA)


def fetch(url, path):
    with urllib.request.urlopen(url.replace("/status", path, 1), timeout=DEADLINE) as answer:
        return answer.read()


def shown_at(process):
    return process.wait_for(r"status (http://127\.0\.0\.1:\d+/status)").group(1)


class Commands(unittest.TestCase):
    def until(self, url, holds):
        """A document for which `holds`, checked against the schema; so are all before it."""
        deadline = time.monotonic() + DEADLINE
        while time.monotonic() < deadline:
            document = json.loads(fetch(url, "/status"))
            CHECK.validate(document)
            if holds(document):
                return document
        self.fail(f"never came; the last: {json.dumps(document)[:2000]}")

    def check_metrics(self, url, *names):
        text = fetch(url, "/metrics")
        said = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, timeout=DEADLINE)
        self.assertEqual((said.returncode, said.stderr), (0, b""))
        for name in names:
            self.assertRegex(text.decode(), rf"(?m)^{name}(\{{.*\}})? (?!0$)\S+$", name)

    def test_recv_shows_its_stream_and_who_called(self):
        ours, theirs = address_pair()
        with Process("recv", "--device", ours, "--http", "127.0.0.1:0", "--listen", "127.0.0.1:0") as recv:
            url = shown_at(recv)
            port = recv.wait_for(r"waiting for a sender at 127\.0\.0\.1:(\d+)").group(1)
            self.assertEqual(self.until(url, lambda d: d["streams"])["streams"][0]["state"], "idle")
            with Process("emulate", "--device", theirs, "--peer", f"127.0.0.1:{port}", "--rate", "2000",
                         "--channels", "4,7"):
                shown = self.until(url, lambda d: len(d["streams"][0]["channels"]) == 2 and
                                   d["streams"][0]["rates"]["frames_per_second"]["last_1s"])
                stream = shown["streams"][0]
                self.assertEqual([c["channel"] for c in stream["channels"]], [4, 7])
                self.assertIsNone(stream["channels"][0]["gaps"])  # two channels share the counter
                self.assertEqual([q["owner"] for q in shown["queue_pairs"]], ["stream"])
                self.assertEqual(shown["handshakes"][0]["established"], 1)
                self.assertEqual(json.loads(fetch(url, "/status/streams/0/channels/1/channel")), 7)
                self.check_metrics(url, "rocio_stream_frames_total", "rocio_stream_channel_bytes_total",
                                   "rocio_engine_cpu_seconds_total")

    def test_serve_shows_its_ring_and_its_functions(self):
        ours, theirs = address_pair()
        with Process("serve", "--device", ours, "--http", "127.0.0.1:0", "--listen", "127.0.0.1:0") as serve:
            url = shown_at(serve)
            ready = serve.process.stdout.readline()
            port = re.search(r"port=(\d+)", ready).group(1)
            call = run("call", "addThem", "2", "3", "--device", theirs, "--peer", f"127.0.0.1:{port}", "--count", "50")
            self.assertEqual(call.returncode, 0, call.stderr)
            shown = self.until(url, lambda d: d["services"] and d["services"][0]["answered"] >= 50)
            self.assertEqual(shown["rings"][0]["received"], shown["services"][0]["requests"])
            self.assertEqual(sum(f["succeeded"] for f in shown["services"][0]["functions"]),
                             shown["services"][0]["answered"])
            self.check_metrics(url, "rocio_ring_received_total", "rocio_rpc_calls_total", "rocio_rpc_latency_seconds_count")

    def test_bridge_shows_its_ring_in_each_mode(self):
        ours, theirs = address_pair()
        peer = theirs.split(":")[1]
        for mode in ([], ["--unified"], ["--forward"]):
            with self.subTest(mode=mode), Process("bridge", f"--device={ours}", f"--peer-ip={peer}", "--timeout=60",
                                                  "--http", "127.0.0.1:0", *mode) as bridge:
                url = shown_at(bridge)
                shown = self.until(url, lambda d: d["rings"] and d["rings"][0]["state"] == "connected")
                self.assertEqual(shown["stale"], [])
                self.assertEqual(shown["services"][0]["name"], "bridge")
                self.assertEqual(shown["rings"][0]["peer"]["address"], peer)

    def test_recv_of_a_sensor_shows_it_and_its_board(self):
        ours, theirs = address_pair()
        board = Process("emulate", "--profile", "hsb", "--device", theirs, "--announce", "off")
        with board:
            board.wait_for("HSB board at ")
            with Process("recv", "--fpga", "hsb", "--fpga-ip", theirs.split(":")[1], "--device", ours, "--payload",
                         "4096", "--http", "127.0.0.1:0") as recv:
                url = shown_at(recv)
                shown = self.until(url, lambda d: d["sensors"][0]["frames"] > 3)
                self.assertEqual(shown["fpgas"][0]["session"]["kind"], "hsb")
                self.assertEqual(shown["fpgas"][0]["session"]["state"], "streaming")
                self.check_metrics(url, "rocio_sensor_frames_total", "rocio_fpga_session_up")


if __name__ == "__main__":
    rocio_process.main(sys.argv)
    unittest.main(verbosity=2)
