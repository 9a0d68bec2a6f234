import pytest
from engine import NumpyEngine


@pytest.fixture(scope="session")
def engine() -> NumpyEngine:
    return NumpyEngine()
