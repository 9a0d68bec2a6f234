"""Files that GitHub, GitLab and pre-commit read: action.yml, the snippets of docs/ci.md, the hook."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

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


# Their commands, run as the services run them


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """A repository whose kernel nccopy does not keep its budget."""
    (tmp_path / "copy.cu").write_text((ROOT / "examples/copy.cu").read_text("utf-8"))
    (tmp_path / "warplens.toml").write_text("""files = ["copy.cu"]
[kernels.nccopy]
budgets = ["gld_efficiency >= 95"]
""")
    return tmp_path


def bash(folder: Path, commands: str, variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Bash as GitHub and GitLab start it; `warplens` is that of this Python, and is not installed again."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", commands]
    environment = os.environ | variables | {"PATH": path}
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True)


def test_the_action_annotates_the_line_and_writes_sarif_and_summary(job: Path) -> None:
    action = yaml_document((ROOT / "action.yml").read_text("utf-8"))
    values = {f"inputs.{name}": each["default"] for name, each in action["inputs"].items()} | {"runner.temp": str(job)}
    (step,) = (step for step in action["runs"]["steps"] if "warplens check" in step.get("run", ""))
    variables = {
        name: re.sub(r"\$\{\{ (.+?) \}\}", lambda found: values[found[1]], text) for name, text in step["env"].items()
    }
    done = bash(job, step["run"], variables | {"GITHUB_STEP_SUMMARY": str(job / "summary.md")})
    assert done.returncode == 1
    assert re.search(r"^::error file=copy\.cu,line=40,.*gld_efficiency", done.stdout, re.MULTILINE), done.stdout
    (result,) = json.loads((job / "warplens.sarif").read_text())["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 40
    assert "nccopy" in (job / "summary.md").read_text()


def test_the_job_writes_its_report(job: Path) -> None:
    (text,) = snippets("GitLab")
    document = yaml_document(text)["kernels"]
    before, script = document["before_script"], document["script"]
    assert before[0] == "pip install warplens"
    cache = document["variables"]["WARPLENS_CACHE"].replace("$CI_PROJECT_DIR", str(job))
    done = bash(job, "\n".join([*before[1:], *script]), {"WARPLENS_CACHE": cache})
    assert done.returncode == 1
    suite = ElementTree.parse(job / document["artifacts"]["reports"]["junit"]).getroot()
    failed = [case.get("name") for case in suite.iter("testcase") if case.find("failure") is not None]
    assert failed == ["nccopy (sm_90, h200)"]
    assert any((job / ".warplens-cache").rglob("*"))
