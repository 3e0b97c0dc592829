#!/usr/bin/env python3
"""The API reference builds without a warning, and docs/reference.md names only what is in it.

usage: reference_test.py FOLDER     where FOLDER takes the reference
"""

import re
import shutil
import subprocess
import sys
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

from documents import ROOT, needs, read

OUT = Path(sys.argv.pop(1)).resolve()


def doxygen(more):
    settings = read("docs/Doxyfile") + "\n" + more
    return subprocess.run(["doxygen", "-"], input=settings, capture_output=True, text=True, timeout=110, cwd=ROOT)


@needs("doxygen", "doxygen")
class Reference(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shutil.rmtree(OUT, ignore_errors=True)
        OUT.mkdir(parents=True)
        cls.done = doxygen(f"OUTPUT_DIRECTORY = {OUT}\nGENERATE_TAGFILE = {OUT}/rocio.tag\n")

    def names(self):
        for compound in xml.parse(OUT / "rocio.tag").iter("compound"):
            name = compound.findtext("name")
            yield name
            for member in compound.iter("member"):
                yield f"{name}::{member.findtext('name')}"

    def test_builds_without_a_warning(self):
        self.assertEqual(self.done.stderr.strip(), "")
        self.assertEqual(self.done.returncode, 0)
        self.assertTrue((OUT / "html/index.html").is_file())

    def test_its_first_page_names_only_what_is_there(self):
        known = set(self.names())
        named = set(re.findall(r"\brocio::[\w:]*\w", read("docs/reference.md")))
        self.assertGreater(len(named), 20)
        self.assertEqual(named - known, set())

    def test_has_every_public_header(self):
        files = set(self.names())
        for header in (ROOT / "include/rocio").rglob("*.hpp"):
            if "detail" not in header.parts:
                self.assertIn(header.name, files)

    def test_a_reference_to_what_is_not_there_would_be_an_error(self):
        broken = OUT / "broken.hpp"
        broken.write_text("/// See ::rocio_is_no_such_thing and @p x.\nstruct s { /** @param y gone */ void f(int x); };\n")
        folder = OUT / "broken"
        done = doxygen(f"INPUT = {broken}\nUSE_MDFILE_AS_MAINPAGE =\nOUTPUT_DIRECTORY = {folder}\n")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("rocio_is_no_such_thing", done.stderr)
        self.assertIn("argument 'y'", done.stderr)


if __name__ == "__main__":
    unittest.main()
