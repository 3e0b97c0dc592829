#!/usr/bin/env python3
"""docs/grafana.json, and the files for Prometheus, ask for metrics that rocio has."""

import json
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from documents import ROOT, needs, read

DASHBOARD = json.loads(read("docs/grafana.json"))
RULES = read("docs/prometheus.rules.yml")


def known_metrics():
    """The metrics that docs/status.md lists, which tests/unit/status compares with those that are served."""
    return set(re.findall(r"\brocio_[a-z0-9_]+", read("docs/status.md")))


def expressions():
    return [target["expr"] for panel in DASHBOARD["panels"] for target in panel.get("targets", [])]


def metrics_in(text):
    for name in re.findall(r"\brocio_[a-z0-9_]+", text):
        yield re.sub(r"_(bucket|sum|count)$", "", name)


def as_prometheus_takes_it(expression):
    return expression.replace("$__rate_interval", "1m").replace("$job", ".*").replace("$instance", ".*")


class Dashboard(unittest.TestCase):
    def test_every_metric_asked_for_is_one_that_rocio_has(self):
        known = known_metrics()
        self.assertGreater(len(known), 50)
        for expression in expressions():
            for name in metrics_in(expression):
                self.assertIn(name, known, expression)

    def test_every_alert_is_about_a_metric_that_rocio_has(self):
        rules = re.findall(r"^\s*expr: (.*)$", RULES, re.MULTILINE)
        self.assertGreater(len(rules), 5)
        for name in metrics_in("\n".join(rules)):
            self.assertIn(name, known_metrics())

    def test_counters_are_asked_for_as_rates(self):
        for expression in expressions():
            for counter in re.finditer(r"(\w+)\(rocio_\w+_total\b|\brocio_\w+_total\b", expression):
                self.assertIn(counter.group(1), {"rate", "increase", "changes"}, expression)

    def test_histograms_are_asked_for_by_their_buckets(self):
        for expression in expressions():
            if "histogram_quantile" in expression:
                self.assertRegex(expression, r"sum by \(le, [a-z, ]+\) \(rate\(rocio_\w+_seconds_bucket\{")

    def test_legends_name_labels_that_the_sum_keeps(self):
        for panel in DASHBOARD["panels"]:
            for target in panel.get("targets", []):
                kept = {label.strip() for labels in re.findall(r"\bby \(([^)]*)\)", target["expr"])
                        for label in labels.split(",")}
                asked = set(re.findall(r"\{\{(\w+)\}\}", target.get("legendFormat", "")))
                self.assertLessEqual(asked, kept, target["expr"])

    def test_every_panel_shows_something_and_overlaps_no_other(self):
        taken = set()
        for panel in DASHBOARD["panels"]:
            place = panel["gridPos"]
            cells = {(place["x"] + i, place["y"] + j) for i in range(place["w"]) for j in range(place["h"])}
            self.assertFalse(cells & taken, panel["title"])
            self.assertLessEqual(place["x"] + place["w"], 24, panel["title"])
            taken |= cells
            self.assertTrue(panel["type"] == "row" or panel["targets"], panel["title"])

    def test_the_data_source_is_a_variable(self):
        names = [variable["name"] for variable in DASHBOARD["templating"]["list"]]
        self.assertEqual(names, ["datasource", "job", "instance"])
        for panel in DASHBOARD["panels"]:
            if panel["type"] != "row":
                self.assertEqual(panel["datasource"]["uid"], "${datasource}", panel["title"])

    def test_panels_have_numbers_of_their_own(self):
        numbers = [panel["id"] for panel in DASHBOARD["panels"]]
        self.assertEqual(len(numbers), len(set(numbers)))


@needs("promtool", "prometheus")
class Prometheus(unittest.TestCase):
    def promtool(self, *arguments):
        done = subprocess.run(["promtool", *arguments], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_takes_the_configuration_and_its_alerts(self):
        said = self.promtool("check", "config", str(ROOT / "docs/prometheus.yml"))
        self.assertRegex(said, r"\b[1-9]\d* rules found")

    def test_takes_every_expression_of_the_dashboard(self):
        with tempfile.TemporaryDirectory() as folder:
            rules = [{"record": f"dashboard:{n}", "expr": as_prometheus_takes_it(expression)}
                     for n, expression in enumerate(expressions())]
            path = Path(folder, "rules.yml")
            path.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}), encoding="utf-8")
            said = self.promtool("check", "rules", str(path))
            self.assertIn(f"{len(rules)} rules found", said)


if __name__ == "__main__":
    unittest.main()
