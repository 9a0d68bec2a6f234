from typing import Any

import pytest
from engine import NumpyEngine
from llvm_engine import LlvmEngine


@pytest.fixture(scope="session", params=["numpy", pytest.param("llvm", marks=pytest.mark.long)])
def engine(request: pytest.FixtureRequest) -> Any:
    return NumpyEngine() if request.param == "numpy" else LlvmEngine()
