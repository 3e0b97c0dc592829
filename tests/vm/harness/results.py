"""What the guest brings back: a folder per case with log, status, seconds, and whatever the case wrote."""
import re


class Results:
    def __init__(self, folder):
        self._folder = folder

    def _file(self, case, name):
        return self._folder / case.name / name

    def started(self, case):
        return self._file(case, "log").exists()

    def has(self, case):
        return self.status(case) is not None

    def status(self, case):
        """The exit status, or None while there is none."""
        text = self._text(case, "status")
        return int(text) if re.fullmatch(r"\d+\n", text) else None

    def seconds(self, case):
        return self._text(case, "seconds").strip() or "?"

    def log(self, case):
        return self._text(case, "log")

    def fail(self, case, why):
        """A case without a status of its own, such as one whose guest is gone; its log so far is kept."""
        self._file(case, "").mkdir(parents=True, exist_ok=True)
        with open(self._file(case, "log"), "a", encoding="utf-8") as log:
            log.write(f"\n{case.name}: {why}\n")
        self._file(case, "status").write_text("1\n")

    def line(self, case):
        word = "passed" if self.status(case) == 0 else "FAILED"
        return f"{word}  {case.name}  {self.seconds(case)} s"

    def folder(self, case):
        return self._folder / case.name

    def _text(self, case, name):
        path = self._file(case, name)
        return path.read_text(errors="replace") if path.exists() else ""

    # A run that could not take place leaves its reason, so that every case can tell it.

    def write_unavailable(self, reason):
        self._folder.mkdir(parents=True, exist_ok=True)
        (self._folder / "unavailable").write_text(f"{reason}\n")

    def unavailable(self):
        path = self._folder / "unavailable"
        return path.read_text().strip() if path.exists() else None
