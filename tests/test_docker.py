"""What docker/ promises: no password in the files, nothing open to the network, nobody is root."""

import re
import subprocess
from importlib.metadata import requires
from pathlib import Path
from typing import Any

import pytest
import yaml

from graphbo.stores.neo4j.server import DEFAULT_VERSION

ROOT = Path(__file__).parent.parent
DOCKER = ROOT / "docker"


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((DOCKER / "compose.yaml").read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def instructions() -> list[tuple[str, str]]:
    """The Dockerfile's instructions with their arguments, continued lines joined."""
    text = (DOCKER / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(line.split()[0], line.split(maxsplit=1)[1]) for line in lines]


def of(instructions: list[tuple[str, str]], name: str) -> list[str]:
    return [argument for instruction, argument in instructions if instruction == name]


def test_the_server_is_the_version_that_is_tested(compose: dict[str, Any]) -> None:
    assert compose["services"]["neo4j"]["image"] == f"neo4j:{DEFAULT_VERSION}-community"


def test_the_password_has_no_default(compose: dict[str, Any]) -> None:
    texts = [
        str(value)
        for service in compose["services"].values()
        for name, value in service["environment"].items()
        if name in {"NEO4J_AUTH", "NEO4J_PASSWORD"}
    ]

    assert len(texts) == 2
    for text in texts:
        assert re.fullmatch(r"(neo4j/)?\$\{NEO4J_PASSWORD:\?[^}]+\}", text)


def test_all_ports_are_for_this_machine_only(compose: dict[str, Any]) -> None:
    ports = compose["services"]["neo4j"]["ports"]

    assert sorted(port.rsplit(":", 1)[1] for port in ports) == ["7474", "7687"]
    assert all(port.startswith("127.0.0.1:") for port in ports)
    assert "ports" not in compose["services"]["graphbo"]


def test_the_data_is_in_a_named_volume(compose: dict[str, Any]) -> None:
    (mount,) = compose["services"]["neo4j"]["volumes"]
    name, target = mount.split(":")

    assert name in compose["volumes"]
    assert target == "/data"


def test_the_command_waits_for_a_healthy_server(compose: dict[str, Any]) -> None:
    check = compose["services"]["neo4j"]["healthcheck"]

    assert "http://127.0.0.1:7474/" in check["test"][-1]
    assert {"interval", "timeout", "retries", "start_period"} <= set(check)
    waits = compose["services"]["graphbo"]["depends_on"]["neo4j"]
    assert waits == {"condition": "service_healthy"}


def test_the_image_is_built_from_files_that_are_there(
    compose: dict[str, Any], instructions: list[tuple[str, str]]
) -> None:
    build = compose["services"]["graphbo"]["build"]
    assert (DOCKER / build["context"]).resolve() == ROOT
    assert ROOT / build["dockerfile"] == DOCKER / "Dockerfile"

    sources = [
        source
        for argument in of(instructions, "COPY")
        if not argument.startswith("--from")
        for source in argument.split()[:-1]
    ]
    assert sources
    for source in sources:
        assert (ROOT / source).exists(), source
    allowed = (DOCKER / "Dockerfile.dockerignore").read_text().splitlines()
    assert {f"!{source}" for source in sources} <= set(allowed)
    assert "*" in allowed


def test_the_image_is_slim_staged_and_not_root(instructions: list[tuple[str, str]]) -> None:
    stages = of(instructions, "FROM")

    assert len(stages) == 2
    assert all("-slim" in stage for stage in stages)
    names = [name for name, _ in instructions]
    assert names.index("USER") > len(names) - 1 - names[::-1].index("FROM")
    assert of(instructions, "USER") == ["10001"]
    assert of(instructions, "ENTRYPOINT") == ['["graphbo"]']


def test_everything_that_is_installed_is_locked_by_hash(
    instructions: list[tuple[str, str]],
) -> None:
    commands = " && ".join(of(instructions, "RUN")).split(" && ")
    installs = [command for command in commands if re.search(r"pip (install|wheel)", command)]

    assert len(installs) == 4
    for command in installs:
        assert "--require-hashes" in command or "--no-deps" in command
    assert not any("pip wheel" in c and "--no-build-isolation" not in c for c in installs)


def test_the_build_tools_are_found_in_the_lock(instructions: list[tuple[str, str]]) -> None:
    (line,) = [command for command in of(instructions, "RUN") if "awk" in command]
    program = line.split(">")[0].strip()

    picked = subprocess.run(
        program, shell=True, cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout

    names = re.findall(r"^([a-z-]+)==", picked, re.MULTILINE)
    needed = [
        re.split(r"[^\w-]", need)[0] for need in requires("hatchling") or [] if ";" not in need
    ]
    assert sorted(names) == sorted(["hatchling", *needed])
    assert picked.count("--hash=sha256:") >= len(names)
