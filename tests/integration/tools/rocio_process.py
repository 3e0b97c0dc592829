"""What the tests of the rocio command share: running it, and reading what it says line by line."""
import json
import random
import re
import subprocess

program = None  # The rocio command; set by main().
DEADLINE = 60  # of any one command; the sanitizers and a busy machine are slow


def address_pair():
    """Two loopback addresses of this test's own."""
    a, b = random.randint(80, 99), random.randint(1, 254)
    return f"soft:127.{a}.{b}.1", f"soft:127.{a}.{b}.2"


def run(*args, **options):
    return subprocess.run([program, *args], capture_output=True, text=True, timeout=DEADLINE, **options)


def last_json(text):
    return json.loads(text.strip().splitlines()[-1])


class Process:
    """A rocio process whose standard error is read line by line."""

    def __init__(self, *args, **options):
        self.process = subprocess.Popen([program, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        **options)
        self.seen = []

    def wait_for(self, pattern):
        for line in self.process.stderr:
            self.seen.append(line)
            found = re.search(pattern, line)
            if found:
                return found
        raise AssertionError(f"never said {pattern!r}; said: {''.join(self.seen)}")

    def finish(self):
        out, err = self.process.communicate(timeout=DEADLINE)
        self.seen.append(err)
        return self.process.returncode, out, "".join(self.seen)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


def main(argv):
    """Takes the program, and --count N, out of the arguments; gives N, or 1."""
    global program
    program = argv.pop(1)
    if "--count" not in argv:
        return 1
    at = argv.index("--count")
    count = int(argv[at + 1])
    del argv[at:at + 2]
    return count
