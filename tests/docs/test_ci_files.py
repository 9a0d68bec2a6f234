"""Files that GitHub, GitLab and pre-commit read: action.yml, the snippets of docs/ci.md, the hook."""

from __future__ import annotations

import re
from pathlib import Path

import jsonschema
import pytest

from helpers.published_schemas import service_schema, yaml_document

ROOT = Path(__file__).parents[2]


def snippets(heading: str) -> list[str]:
    page = (ROOT / "docs/ci.md").read_text("utf-8")
    (section,) = re.findall(rf"^## {heading}\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    return re.findall(r"```yaml\n(.*?)```", section, re.DOTALL)


def test_the_action_follows_githubs_schema() -> None:
    action = yaml_document((ROOT / "action.yml").read_text("utf-8"))
    jsonschema.validate(action, service_schema("github-actions"))
    action["runs"]["steps"][-1].pop("shell")
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(action, service_schema("github-actions"))


def test_the_inputs_of_the_action_are_those_that_it_reads() -> None:
    text = (ROOT / "action.yml").read_text("utf-8")
    assert set(re.findall(r"inputs\.(\w+)", text)) == set(yaml_document(text)["inputs"])


def test_the_workflow_of_the_page_follows_githubs_schema() -> None:
    (workflow,) = snippets("GitHub")
    document = {"on": "push", **yaml_document(workflow)}
    jsonschema.validate(document, service_schema("github-workflows"))


def test_the_workflows_of_the_project_follow_githubs_schema() -> None:
    for file in sorted((ROOT / ".github/workflows").glob("*.yml")):
        jsonschema.validate(yaml_document(file.read_text("utf-8")), service_schema("github-workflows"))


def test_the_job_of_the_page_follows_gitlabs_schema() -> None:
    (job,) = snippets("GitLab")
    document = yaml_document(job)
    schema = service_schema("gitlab-ci")
    jsonschema.validate(document, schema)
    document["kernels"]["artifacts"]["when"] = "sometimes"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, schema)


def test_the_hook_of_the_page_is_one_of_the_hooks() -> None:
    (config,) = snippets("pre-commit")
    hooks = yaml_document((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    (repository,) = yaml_document(config)["repos"]
    assert {hook["id"] for hook in repository["hooks"]} <= {hook["id"] for hook in hooks}
    for hook in hooks:
        assert {"id", "name", "entry", "language"} <= set(hook)
