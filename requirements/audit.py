"""What is known about the packages that users get: vulnerabilities, licences, and a list of all of them (an SBOM).

Run by ``make audit``, with the Python of an environment that has the tools of requirements/audit.txt. Ends with exit
code 1 for a known vulnerability or a licence that does not fit. Without a way to the data about vulnerabilities it says
so: silence would look like good news.
"""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
LOCK = ROOT / "requirements" / "run.txt"
OUTPUT = ROOT / "build" / "audit"
SBOM = OUTPUT / "sbom.json"

#: Where vulnerabilities are known; the next is asked if one cannot be reached.
SERVICES = ("pypi", "osv")

NOT_AT_RUN_TIME = re.compile(r"GPL|General Public")


def main() -> int:
    """All three, and 1 if anything is wrong."""
    OUTPUT.mkdir(parents=True, exist_ok=True)
    wrong = [*_vulnerabilities(), *_licences()]
    _write_sbom()
    for line in wrong:
        print(f"WRONG: {line}")
    return 1 if wrong else 0


def _tool(module: str, *arguments: object) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", module, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


# Vulnerabilities


def _vulnerabilities() -> list[str]:
    for service in SERVICES:
        report = OUTPUT / f"vulnerabilities-{service}.json"
        report.unlink(missing_ok=True)
        _tool(
            "pip_audit", "--requirement", LOCK, "--require-hashes", "--disable-pip",
            "--vulnerability-service", service, "--format", "json", "--output", report,
        )  # fmt: skip
        found = json.loads(report.read_text()) if report.exists() else {"dependencies": []}
        wrong, audited, skipped = judged(found)
        if audited:
            unknown = f"; NOT CHECKED: {', '.join(skipped)}" if skipped else ""
            print(f"Vulnerabilities: {audited} packages checked, {len(wrong)} known{unknown}")
            return wrong
    print("Vulnerabilities: NOT CHECKED, since no service with data about them can be reached")
    return []


def judged(report: dict[str, Any]) -> tuple[list[str], int, list[str]]:
    """What is wrong by a report of pip-audit, how many packages it looked at, and which it could not find."""
    audited = [one for one in report["dependencies"] if "skip_reason" not in one]
    skipped = [one["name"] for one in report["dependencies"] if "skip_reason" in one]
    wrong = [
        f"{one['name']} {one['version']} has {known['id']}, mended in "
        f"{', '.join(known['fix_versions']) or 'no version yet'}"
        for one in audited
        for known in one["vulns"]
    ]
    return wrong, len(audited), skipped


# Licences


def _licences() -> list[str]:
    names = re.findall(r"^([\w.-]+)==", LOCK.read_text(encoding="utf-8"), re.MULTILINE)
    python = ROOT / ".venv" / "bin" / "python"
    answer = _tool(
        "piplicenses", "--python", python, "--from", "mixed", "--format", "json", "--packages", *names
    )  # fmt: skip
    if answer.returncode:
        return [f"the licences cannot be read: {answer.stderr.strip().splitlines()[-1]}"]
    found = json.loads(answer.stdout)
    (OUTPUT / "licences.json").write_text(answer.stdout, encoding="utf-8")
    print(f"Licences: {len(found)} packages, listed in {OUTPUT.relative_to(ROOT)}/licences.json")
    return unfit(found)


def unfit(packages: list[dict[str, str]]) -> list[str]:
    """The packages that must not come with graphbo, by what pip-licenses says."""
    return [
        f"{one['Name']} is under {one['License'].splitlines()[0]}"
        for one in packages
        if NOT_AT_RUN_TIME.search(one["License"].splitlines()[0]) or one["License"] == "UNKNOWN"
    ]


# SBOM


def _write_sbom() -> None:
    answer = _tool("cyclonedx_py", "requirements", LOCK, "--of", "JSON", "-o", SBOM)
    if answer.returncode:
        sys.exit(answer.stderr)
    count = len(json.loads(SBOM.read_text(encoding="utf-8"))["components"])
    print(f"SBOM: {count} packages in {SBOM.relative_to(ROOT)} (CycloneDX)")


if __name__ == "__main__":
    sys.exit(main())
