#!/usr/bin/env python3
"""docs/troubleshooting.md has an entry for every error code, and every text it quotes is one that rocio says."""

import re
import unittest

from documents import enumerators, read, string_literals

PAGE = read("docs/troubleshooting.md")
# Of the system, not of rocio.
FOREIGN = {"Connection refused"}


def tables():
    """(heading of the first column, cells) of every row."""
    heads = []
    for line in PAGE.splitlines():
        cells = [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]
        if not line.startswith("|"):
            heads = []
        elif not heads:
            heads = cells
        elif not re.fullmatch(r"[|\-\s]+", line):
            yield heads, cells


def entries():
    """code → the texts it is said with, of the rows that begin with a code."""
    return {re.sub(r"\s.*", "", cells[0].replace("`", "")): cells[1]
            for heads, cells in tables() if heads[0] == "code" and cells[0]}


def quoted():
    for heads, cells in tables():
        for name in ("says", "line"):
            if name in heads:
                yield from re.findall(r"`([^`]+)`", cells[heads.index(name)])


class Troubleshooting(unittest.TestCase):
    def test_every_row_has_as_many_cells_as_its_head(self):
        for heads, cells in tables():
            self.assertEqual(len(cells), len(heads), cells)

    def test_every_code_has_an_entry(self):
        known = entries()
        for header, enum, prefix in (("include/rocio/types/error.hpp", "errc", "errc"),
                                     ("include/rocio/fpga/bus_error.hpp", "bus_errc", "fpga::bus_errc"),
                                     ("include/rocio/fpga/hsb_error.hpp", "hsb_errc", "fpga::hsb_errc"),
                                     ("include/rocio/rpc/rpc_error.hpp", "errc", "rpc::errc")):
            codes = enumerators(header, enum)
            self.assertGreater(len(codes), 2, header)
            for code in codes:
                if code != "success":
                    self.assertIn(f"{prefix}::{code}", known)

    def test_no_entry_is_of_a_code_that_is_not_there(self):
        codes = set(enumerators("include/rocio/types/error.hpp", "errc"))
        for code in entries():
            if code.startswith("errc::"):
                self.assertIn(code.removeprefix("errc::"), codes)

    def test_an_entry_quotes_the_message_of_its_code(self):
        source = re.sub(r'"\s*"', "", read("src/types/error.cpp"))
        messages = dict(re.findall(r'\{errc::(\w+),\s*"([^"]*)"\}', source))
        self.assertGreater(len(messages), 40)
        for code, says in entries().items():
            if code.startswith("errc::"):
                self.assertIn(messages[code.removeprefix("errc::")].split(";")[0], says, code)

    def test_what_is_quoted_is_what_rocio_says(self):
        said = "\n".join(string_literals())
        pieces = [piece.strip() for text in quoted() if text not in FOREIGN for piece in text.split("…")]
        pieces = [piece for piece in pieces if len(piece) > 4]
        self.assertGreater(len(pieces), 80)
        for piece in pieces:
            self.assertTrue(piece in said, f"nothing says {piece!r}")


if __name__ == "__main__":
    unittest.main()
