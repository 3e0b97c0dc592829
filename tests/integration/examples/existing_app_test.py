#!/usr/bin/env python3
"""The existing application of examples/03 goes on echoing and ticking while an FPGA's stream runs through its context.

usage: existing_app_test.py EXAMPLE ROCIO
"""
import re
import signal
import socket
import subprocess
import sys

DEADLINE = 60
FRAMES = 2000


def run(mode, example, rocio, sender):
    app = subprocess.Popen([example, mode, "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        line = app.stdout.readline()
        echo, stream = re.match(r"echo on (\S+), stream on (\S+)", line).groups()
        board = subprocess.Popen([rocio, "emulate", "--device", sender, "--peer", stream, "--count", str(FRAMES)],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        host, port = echo.rsplit(":", 1)
        with socket.create_connection((host, int(port)), timeout=DEADLINE) as client:
            for i in range(50):
                client.sendall(b"echo %03d" % i)
                got = b""
                while len(got) < 8:
                    got += client.recv(8 - len(got))
                assert got == b"echo %03d" % i, got
        _, err = board.communicate(timeout=DEADLINE)
        assert board.returncode == 0, err
        app.send_signal(signal.SIGINT)
        out, err = app.communicate(timeout=DEADLINE)
    finally:
        app.kill()
    assert app.returncode == 0, err
    echoed, ticks, frames = map(int, re.match(r"(\d+) bytes echoed, (\d+) ticks, (\d+) frames", out).groups())
    assert echoed == 400, out
    assert ticks > 0, out
    assert frames == FRAMES, out
    print(f"{mode}: {echoed} bytes echoed, {ticks} ticks, {frames} frames")


if __name__ == "__main__":
    run("--park", sys.argv[1], sys.argv[2], "soft:127.0.3.2")
    run("--spin", sys.argv[1], sys.argv[2], "soft:127.0.3.3")
