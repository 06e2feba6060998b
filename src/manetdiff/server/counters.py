"""What Prometheus is told."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

SECONDS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)


class Counters:
    """Of one service; nothing is named after a network or a node, whose names are not the operator's to publish."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        self.reports = Counter("manetdiff_reports", "Reports of positions", ["outcome"], registry=registry)
        self.older = Counter("manetdiff_older_nodes", "Reported nodes older than what was known", registry=registry)
        self.versions = Counter("manetdiff_versions", "Versions on disk", ["mode"], registry=registry)
        self.changed = Counter("manetdiff_changed_links", "Links added and dropped", ["what"], registry=registry)
        self.taken_out = Counter("manetdiff_nodes_taken_out", "Nodes without news for too long", registry=registry)
        self.failures = Counter("manetdiff_failures", "Updates that failed", ["kind"], registry=registry)
        self.pruned = Counter("manetdiff_pruned_versions", "Versions removed by age or number", registry=registry)
        self.taken_over = Counter("manetdiff_taken_over", "Networks that nobody ran, taken up", registry=registry)
        self.given_up = Counter("manetdiff_given_up", "Networks that another replica has taken", registry=registry)
        self.forwarded = Counter(
            "manetdiff_forwarded", "Requests for networks that other replicas run", ["outcome"], registry=registry
        )
        for counter, labels in (
            (self.forwarded, ("answered", "broken", "nobody")),
            (self.reports, ("taken", "older", "refused", "shed", "too often")),
            (self.changed, ("added", "dropped")),
        ):
            for label in labels:  # at 0 from the beginning, so that the first one counts as an increase
                counter.labels(label)
        self.update_s = Histogram(
            "manetdiff_update_seconds", "From positions to a topology", buckets=SECONDS, registry=registry
        )
        self.report_s = Histogram(
            "manetdiff_report_seconds", "From a report to its version on disk", buckets=SECONDS, registry=registry
        )

    def gauge(self, name: str, what: str, value: Callable[[], float]) -> None:
        """A number that is looked up whenever it is asked for."""
        Gauge(name, what, registry=self._registry).set_function(value)

    def text(self) -> bytes:
        """In Prometheus' format."""
        return generate_latest(self._registry)
