#!/usr/bin/env python3
"""Calls over rings on two user-space devices, one after the other: none is lost, none stalls, nothing is allocated for
one, and the memory does not grow.

usage: rpc_soak_test.py ROCIO --count N
"""
import json
import subprocess
import sys

SECONDS_PER_MILLION = 300  # Two spinning threads on a busy machine; a stalled call would never end.
PAGES = 64 * 4096  # Of the C library and the kernel's accounting; a leak of one byte per call would be more.


def run(rocio, count):
    limit = 120 + count * SECONDS_PER_MILLION / 1e6
    done = subprocess.run([rocio, "bench", "rpc", "--rounds", "1", "--count", str(count), "--json", "--device",
                           "soft:127.64.0.1", "soft:127.64.0.2"], capture_output=True, text=True, timeout=limit)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    print(json.dumps(result))
    assert result["count"] == count
    assert result["lost"] == 0
    assert result["allocations_per_message"] == 0
    assert result["memory_growth_bytes"] <= PAGES


if __name__ == "__main__":
    assert len(sys.argv) == 4 and sys.argv[2] == "--count", __doc__
    run(sys.argv[1], int(sys.argv[3]))
