#!/usr/bin/env python3
"""The C client of examples/07 calls `rocio serve`, another process, a hundred times; without a service it says so.

usage: c_client_test.py EXAMPLE ROCIO
"""
import json
import re
import signal
import subprocess
import sys

DEADLINE = 30
CLIENT = ["soft:127.0.7.2", "127.0.7.2", "127.0.0.1"]


def call(example, port):
    return subprocess.run([example, *CLIENT, str(port)], capture_output=True, text=True, timeout=DEADLINE)


def is_answered_by_a_service(example, rocio):
    service = subprocess.Popen([rocio, "serve", "--device", "soft:127.0.7.1", "--listen", "127.0.0.1:0", "--json"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        port = re.match(r"CPU_ROCE_DAEMON_READY port=(\d+) roce_ip=127.0.7.1\n", service.stdout.readline()).group(1)
        client = call(example, port)
        assert client.returncode == 0, client.stderr
        assert client.stdout == "the service added 0 to 99: 4950\n", client.stdout
        service.send_signal(signal.SIGINT)
        out, err = service.communicate(timeout=DEADLINE)
    finally:
        service.kill()
    assert service.returncode == 0, err
    assert json.loads(out.splitlines()[-1]) == {"callers": 1, "answered": 100}, out
    return port


def says_that_nobody_listens(example, port):
    client = call(example, port)
    assert client.returncode == 1
    assert client.stderr == "07_c_client: nobody listens there: start rocio serve\n", client.stderr


if __name__ == "__main__":
    says_that_nobody_listens(sys.argv[1], is_answered_by_a_service(sys.argv[1], sys.argv[2]))
