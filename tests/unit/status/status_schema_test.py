"""The status document keeps to its schema, the metrics to Prometheus' conventions and to the list in docs/status.md.

usage: status_schema_test.py PRINT_STATUS [unittest options]
"""

import copy
import json
import subprocess
import sys
import unittest
from pathlib import Path

import jsonschema

DOCS = Path(__file__).resolve().parents[3] / "docs"
PRINT_STATUS = ""


def printed(*words):
    return subprocess.run([PRINT_STATUS, *words], check=True, capture_output=True, timeout=20).stdout.decode()


def schema():
    return json.loads((DOCS / "status.schema.json").read_text())


class Schema(unittest.TestCase):
    def setUp(self):
        self.check = jsonschema.Draft202012Validator(schema())

    def test_is_a_schema(self):
        jsonschema.Draft202012Validator.check_schema(schema())

    def test_takes_a_status_with_everything(self):
        self.check.validate(json.loads(printed("json")))

    def test_takes_a_status_of_nothing(self):
        self.check.validate(json.loads(printed("json", "empty")))

    def test_refuses_a_member_more_or_less_anywhere(self):
        whole = json.loads(printed("json"))
        for part in ("engines", "devices", "queue_pairs", "streams", "rings", "sensors", "services", "callers",
                     "fpgas", "handshakes", "stale"):
            with self.subTest(part):
                more = copy.deepcopy(whole)
                more[part][0]["surprise"] = 1
                self.assertFalse(self.check.is_valid(more))
                less = copy.deepcopy(whole)
                del less[part][0][sorted(less[part][0])[0]]
                self.assertFalse(self.check.is_valid(less))

    def test_has_a_definition_for_every_part_of_the_document(self):
        whole = json.loads(printed("json"))
        self.assertEqual(set(schema()["properties"]), set(whole))


class Metrics(unittest.TestCase):
    def promtool(self, text):
        return subprocess.run(["promtool", "check", "metrics"], input=text.encode(), capture_output=True, timeout=20)

    def test_pass_promtool(self):
        for words in (["metrics"], ["metrics", "empty"]):
            said = self.promtool(printed(*words))
            self.assertEqual((said.returncode, said.stderr.decode()), (0, ""))

    def test_promtool_would_complain(self):
        said = self.promtool("# TYPE rocio_things counter\nrocio_things 1\n")
        self.assertNotEqual(said.returncode, 0)

    def test_are_all_listed_in_the_guide(self):
        guide = (DOCS / "status.md").read_text()
        rows = {}
        for line in guide.splitlines():
            if not line.startswith("| `rocio_"):
                continue
            name, kind, labels, meaning = [cell.strip() for cell in line[1:-1].split("|")]
            rows[name.strip("`")] = (kind, labels, meaning)
        for line in printed("list").splitlines():
            name, kind, labels, meaning = line.split("\t")
            self.assertEqual(rows.pop(name, None), (kind, labels.replace(",", ", "), meaning), name)
        self.assertEqual(rows, {}, "listed in docs/status.md, but never written")


if __name__ == "__main__":
    PRINT_STATUS = sys.argv.pop(1)
    unittest.main(verbosity=2)
