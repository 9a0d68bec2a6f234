"""The site of the documentation: its sidebar has every page once, and its links lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from helpers.programs import module_of

ROOT = Path(__file__).parents[2]
LABS = sorted(file.parent for file in (ROOT / "src" / "warplens" / "labs").glob("[!_]*/lab.toml"))
links = module_of("docs/site/links.py", "links")
navigation = module_of("docs/site/navigation.py", "navigation")


def test_every_page_is_in_the_sidebar_once() -> None:
    placed = [name for headings in navigation.navigation().values() for names in headings.values() for name in names]
    assert Counter(placed) == Counter(page for page in navigation.pages() if page != "README")


def test_the_sidebar_names_pages_that_exist() -> None:
    parents = navigation.navigation().keys()
    assert parents <= set(navigation.pages())


def test_a_page_may_have_another_title_in_the_sidebar() -> None:
    assert navigation.titles() == {"README.zh": "简介"}


def test_the_course_has_every_lab_once() -> None:
    assert sorted(ROOT / page for page in navigation.linked("docs/course") if "/labs/" in page) == [
        lab / "README" for lab in LABS
    ]


def test_broken_links_are_found(tmp_path: Path) -> None:
    (tmp_path / "first.html").write_text('<a href="second.html#here">1</a><a href="second.html#gone">2</a>')
    (tmp_path / "second.html").write_text('<p id="here"></p><img src="gone.svg"><a href="https://x.y/z">3</a>')
    assert links.broken(tmp_path) == ["first.html: second.html#gone", "second.html: gone.svg"]


LANGUAGES = {"README.html": "en", "README.zh.html": "zh-CN", "docs/zh/tutorial/first_kernel.html": "zh-CN"}


@pytest.mark.long
def test_the_site_is_built_without_warnings(tmp_path: Path) -> None:
    site = tmp_path / "site"
    sphinx = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", "docs/site"]
    command = [*sphinx, "-d", str(tmp_path / "doctrees"), ".", str(site)]
    done = subprocess.run(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert links.broken(site) == []
    languages = [re.findall('<html[^>]* lang="(.+?)"', (site / page).read_text("utf-8")) for page in LANGUAGES]
    assert languages == [[language] for language in LANGUAGES.values()]
    assert (site / "index.html").read_bytes() == (site / "README.html").read_bytes()
