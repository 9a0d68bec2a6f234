"""A drawing in the making: shapes in order, one style for light and dark, words for those who cannot see it."""

from __future__ import annotations

from html import escape

# (light, dark) of each colour; shapes are named after what they mean, not after how they look.
COLOURS = {
    "paper": ("#ffffff", "#14181f"),
    "ink": ("#1d2430", "#e6e9ef"),
    "soft": ("#5b6472", "#a3adbb"),
    "line": ("#cbd2db", "#3b4553"),
    "accent": ("#2563a8", "#7ab4f0"),
    "tint": ("#d6e6f8", "#1f3a57"),
    "other": ("#edf1f5", "#232b36"),
    "warm": ("#c2410c", "#f79a5e"),
    "glow": ("#fde3cf", "#5a3319"),
}
SHAPES = {
    "paper": "fill:paper",
    "box": "fill:paper;stroke:line",
    "used": "fill:tint;stroke:accent",
    "even": "fill:tint;stroke:line",
    "odd": "fill:other;stroke:line",
    "marked": "fill:glow;stroke:warm",
    "bar": "fill:accent",
    "hot": "fill:warm",
    "axis": "fill:none;stroke:line",
    "way": "fill:none;stroke:accent;stroke-width:1.2",
    "hotway": "fill:none;stroke:warm;stroke-width:1.2",
    "curve": "fill:none;stroke:accent;stroke-width:1.8",
    "hotcurve": "fill:none;stroke:warm;stroke-width:1.8",
    "dashes": "fill:none;stroke:soft;stroke-width:1.2;stroke-dasharray:4 3",
}
WRITING = {"title": "fill:ink;font-size:14px;font-weight:600", "words": "fill:soft;font-size:11.5px", "tiny":
           "fill:soft;font-size:9px", "name": "fill:ink;font-size:11.5px"}  # fmt: skip
FONT = "system-ui,'Segoe UI',Roboto,'Helvetica Neue',sans-serif"


class Svg:
    """width, height in pixels;  title: what it shows;  words: what is to be seen in it, in a sentence or two."""

    def __init__(self, width: float, height: float, title: str, words: str) -> None:
        self.width, self.height, self.title, self.words = width, height, title, words
        self._shapes: list[str] = []
        self.rect(0, 0, width, height, "paper", corner=6)
        self.write(16, 24, title, "title")
        self.write(16, 42, words, "words")

    def rect(self, x: float, y: float, width: float, height: float, kind: str, corner: float = 1.5) -> None:
        size = f'width="{number(width)}" height="{number(height)}" rx="{number(corner)}"'
        self._shapes.append(f'<rect class="{kind}" x="{number(x)}" y="{number(y)}" {size}/>')

    def path(self, kind: str, *points: tuple[float, float]) -> None:
        """Straight lines from point to point."""
        drawn = "L".join(f"{number(x)} {number(y)}" for x, y in points)
        self._shapes.append(f'<path class="{kind}" d="M{drawn}"/>')

    def drawn(self, kind: str, path: str) -> None:
        """A path in SVG's own words."""
        self._shapes.append(f'<path class="{kind}" d="{path}"/>')

    def dot(self, x: float, y: float, kind: str, radius: float = 3.5) -> None:
        self._shapes.append(f'<circle class="{kind}" cx="{number(x)}" cy="{number(y)}" r="{number(radius)}"/>')

    def write(self, x: float, y: float, words: str, kind: str = "words", anchor: str = "start") -> None:
        """anchor: "start", "middle" or "end" of the words stands at x."""
        place = f'x="{number(x)}" y="{number(y)}"' + ("" if anchor == "start" else f' text-anchor="{anchor}"')
        self._shapes.append(f'<text class="{kind}" {place}>{escape(words, quote=False)}</text>')

    def text(self) -> str:
        """The whole file."""
        box = f'viewBox="0 0 {number(self.width)} {number(self.height)}"'
        size = f'width="{number(self.width)}" height="{number(self.height)}" style="max-width:100%;height:auto"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" class="warplens-picture" {box} {size} role="img"'
        said = f"<title>{escape(self.title)}</title><desc>{escape(self.words)}</desc>"
        label = escape(f"{self.title}. {self.words}")
        shapes = "\n".join([f"<style>{_style()}</style>", *self._shapes])
        return f'{head} aria-label="{label}">{said}\n{shapes}\n</svg>\n'


def number(value: float) -> str:
    """To a tenth of a pixel, without needless zeros."""
    return f"{round(value, 1):.1f}".removesuffix(".0")


def _style() -> str:
    """Every rule reaches shapes of these pictures only, so that they can stand inside of a page."""
    light = _rules(0)
    return f"{light}@media (prefers-color-scheme:dark){{{_rules(1)}}}"


def _rules(scheme: int) -> str:
    rules = {**SHAPES, **{name: f"{rule};font-family:{FONT}" for name, rule in WRITING.items()}}
    return "".join(f".warplens-picture .{name}{{{_coloured(rule, scheme)}}}" for name, rule in rules.items())


def _coloured(rule: str, scheme: int) -> str:
    declarations = []
    for declaration in rule.split(";"):
        key, _, value = declaration.partition(":")
        colour = COLOURS.get(value)
        declarations.append(f"{key}:{colour[scheme] if colour else value}")
    return ";".join(declarations)
