"""What the tests of the documents share."""

import os
import re
import shutil
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def needs(program, package):
    """Skips a test where the program is not; with CI=true it fails there."""
    here = shutil.which(program) or os.environ.get("CI") == "true"
    return unittest.skipUnless(here, f"{program} is not here: apt-get install {package}")


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def string_literals(folders=("src", "include", "tools")):
    """All string literals, those that stand beside each other joined as the compiler does."""
    found = []
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.[ch]pp")):
            text = re.sub(r"//[^\n\"]*$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
            for group in re.finditer(r'"(?:\\.|[^"\\\n])*"(?:\s*"(?:\\.|[^"\\\n])*")*', text):
                parts = re.findall(r'"((?:\\.|[^"\\\n])*)"', group.group(0))
                found.append("".join(parts).replace('\\"', '"'))
    return found


def enumerators(header, name):
    """The names in `enum class NAME` of a header."""
    body = re.search(rf"enum class {name}\b[^{{]*\{{(.*?)\}};", read(header), re.DOTALL).group(1)
    body = re.sub(r"//[^\n]*", "", body)
    return re.findall(r"^\s*(\w+)\s*(?:=[^,]*)?,?\s*$", body, re.MULTILINE)
