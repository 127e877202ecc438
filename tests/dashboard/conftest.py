"""The browser of the report's tests."""

from tests.seeing.conftest import chromium

__all__ = ["chromium"]
