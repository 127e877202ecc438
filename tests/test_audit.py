"""What ``make audit`` makes of what its tools say."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

PROGRAM = Path(__file__).parent.parent / "requirements" / "audit.py"


@pytest.fixture(scope="module")
def audit() -> ModuleType:
    spec = importlib.util.spec_from_file_location("audit", PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_known_vulnerabilities_are_wrong(audit: ModuleType) -> None:
    known = {"id": "PYSEC-1", "fix_versions": ["2.0"], "aliases": [], "description": ""}
    report = {
        "dependencies": [
            {"name": "fine", "version": "1.0", "vulns": []},
            {"name": "broken", "version": "1.0", "vulns": [known, known | {"fix_versions": []}]},
            {"name": "unknown", "skip_reason": "not found"},
        ]
    }
    wrong, audited, skipped = audit.judged(report)
    assert wrong == [
        "broken 1.0 has PYSEC-1, mended in 2.0",
        "broken 1.0 has PYSEC-1, mended in no version yet",
    ]
    assert (audited, skipped) == (2, ["unknown"])


def test_nothing_that_was_looked_at_is_no_good_news(audit: ModuleType) -> None:
    report = {"dependencies": [{"name": "click", "skip_reason": "could not be audited"}]}
    assert audit.judged(report) == ([], 0, ["click"])


@pytest.mark.parametrize(
    ("licence", "fits"),
    [
        ("MIT", True),
        ("Apache-2.0 AND Python-2.0", True),
        ("BSD License\nwith the text of the GPL in an appendix", True),
        ("GPL-3.0-only", False),
        ("GNU Affero General Public License v3", False),
        ("AGPL-3.0", False),
        ("UNKNOWN", False),
    ],
)
def test_licences(audit: ModuleType, licence: str, fits: bool) -> None:
    assert (audit.unfit([{"Name": "x", "Version": "1", "License": licence}]) == []) == fits
