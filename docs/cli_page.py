"""The help of every verb of the command line, for docs/cli.md."""

from __future__ import annotations

from collections.abc import Iterator

import click

from warplens.cli.main import cli

WIDTH = 88  # as docs/regenerate.py: a text block of this width is shown without scrolling


def main() -> None:
    for path, command in commands(cli, "warplens"):
        settings = cli.context_settings | {"max_content_width": WIDTH, "terminal_width": WIDTH}
        with click.Context(command, info_name=path, **settings) as context:
            print(f"## `{path}`\n\n```text\n{command.get_help(context)}\n```\n")


def commands(group: click.Group, path: str) -> Iterator[tuple[str, click.Command]]:
    """The group itself, then its verbs by name; verbs of a group after it."""
    yield path, group
    for name, command in sorted(group.commands.items()):
        if isinstance(command, click.Group):
            yield from commands(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


if __name__ == "__main__":
    main()
