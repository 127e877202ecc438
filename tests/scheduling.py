"""Which test process runs which tests, and in which order, when there are several.

Files stay together, as they share what is set up in them. All that need a server of the long-term release stay
together, too. What takes long comes first: in the end, no process should have much left when the others are done.

Tests wait: for a server, a process, a lease. So there may be a process more than cores, which works meanwhile on what
needs no server: to start another and have it plan all statements would take longer than what is waited for. A fourth
only makes the others wait for the cores.
"""

from collections.abc import Sequence

import pytest
from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped]
from xdist.workermanage import WorkerController  # type: ignore[import-untyped]

__all__ = ["LONG_TERM", "ORDER", "WITH_A_SERVER", "Scheduling", "in_order"]

#: How many processes may start a server.
SERVERS = 2

#: The files with tests on the long-term release.
LONG_TERM = (
    "tests/stores/test_contract.py",
    "tests/stores/test_contract_conditions.py",
    "tests/stores/test_contract_property_graphs.py",
    "tests/stores/test_statements.py",
    "tests/stores/server/test_local.py",
    "tests/runs/test_contract.py",
)
#: The files with tests on Neo4j.
WITH_A_SERVER = (
    *LONG_TERM,
    "tests/api/test_optimize.py",
    "tests/api/test_search.py",
    "tests/cli/test_annotate.py",
    "tests/cli/test_ask_tell.py",
    "tests/cli/test_browser.py",
    "tests/cli/test_by_hand.py",
    "tests/cli/test_captions.py",
    "tests/cli/test_clean.py",
    "tests/cli/test_cypher.py",
    "tests/cli/test_doctor.py",
    "tests/cli/test_load.py",
    "tests/cli/test_mcp.py",
    "tests/cli/test_neo4j.py",
    "tests/cli/test_report.py",
    "tests/cli/test_retry.py",
    "tests/cli/test_run.py",
    "tests/cli/test_tasks.py",
    "tests/cli/test_tell_from.py",
    "tests/cli/test_untouched.py",
    "tests/cli/test_watch.py",
    "tests/cli/test_workers.py",
    "tests/dashboard/test_actions.py",
    "tests/dashboard/test_day.py",
    "tests/dashboard/test_kills.py",
    "tests/faults/test_kills.py",
    "tests/faults/test_many.py",
    "tests/faults/test_outages.py",
    "tests/faults/test_samples.py",
    "tests/loading/test_tables.py",
    "tests/objectives/test_cypher.py",
    "tests/runs/test_by_hand_contract.py",
    "tests/runs/test_captions.py",
    "tests/runs/test_card.py",
    "tests/runs/test_costs.py",
    "tests/runs/test_features.py",
    "tests/runs/test_mending_contract.py",
    "tests/runs/test_names_contract.py",
    "tests/runs/test_property_graphs_contract.py",
    "tests/runs/test_run.py",
    "tests/runs/test_schema.py",
    "tests/runs/test_why.py",
    "tests/runs/test_worker.py",
    "tests/search/strategies/test_connectors.py",
    "tests/seeing/test_annotate.py",
    "tests/seeing/test_browser.py",
    "tests/seeing/test_facts.py",
    "tests/stores/test_checks.py",
    "tests/stores/test_hostile_names.py",
    "tests/stores/test_hubs.py",
    "tests/stores/test_neo4j_connection.py",
    "tests/stores/test_neo4j_hops.py",
    "tests/stores/test_neo4j_statements.py",
    "tests/test_examples.py",
)
#: The longest first; what is not named follows.
ORDER = (
    *LONG_TERM,
    "tests/faults/test_outages.py",
    "tests/test_wheel.py",
    "tests/test_plugins.py",
    "tests/test_site.py",
    "tests/test_code_blocks.py",
    "tests/faults/",
    "tests/cli/",
    "tests/runs/",
    "tests/test_examples.py",
    "tests/test_docs.py",
    "tests/bench/",
    "tests/search/",
    "tests/objectives/",
    "tests/seeing/",
)


class Scheduling(LoadFileScheduling):  # type: ignore[misc]
    """Tests by files, in the order in which they were collected, and those on Neo4j in some of the processes only."""

    def __init__(self, config: pytest.Config, log: object) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False
        self._serverless = "not neo4j" in config.option.markexpr

    def _split_scope(self, nodeid: str) -> str:
        return "long term" if nodeid.startswith(LONG_TERM) else str(super()._split_scope(nodeid))

    def _reschedule(self, node: WorkerController) -> None:
        if self.workqueue and self._next(node) is None:
            node.shutdown()
        else:
            super()._reschedule(node)

    def _assign_work_unit(self, node: WorkerController) -> None:
        # At the beginning, each process gets something: a server too many, if there is nothing else.
        scope = self._next(node) or next(iter(self.workqueue))
        self.workqueue.move_to_end(scope, last=False)
        super()._assign_work_unit(node)

    def _next(self, node: WorkerController) -> str | None:
        """What the process should do next: what needs a server, if it may start one."""
        if self._serverless:
            return next(iter(self.workqueue), None)
        serving = node in [one for one in self.nodes if not one.shutting_down][:SERVERS]
        of_its_kind = (one for one in self.workqueue if _needs_a_server(one) is serving)
        anything = next(iter(self.workqueue), None) if serving else None
        return next(of_its_kind, anything)


def _needs_a_server(scope: str) -> bool:
    return scope in {"long term", *WITH_A_SERVER}


def in_order(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """The slow ones first."""

    def rank(item: pytest.Item) -> int:
        ranks = (number for number, path in enumerate(ORDER) if item.nodeid.startswith(path))
        return next(ranks, len(ORDER))

    return sorted(items, key=rank)
