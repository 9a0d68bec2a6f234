"""A launch in a notebook: the whole page in a frame, so that neither's style reaches the other."""

from __future__ import annotations

from html import escape

HEIGHT = 640  # pixels, as much as a notebook shows beside its code


def frame(page: str) -> str:
    """HTML for a cell's result."""
    return (
        f'<iframe srcdoc="{escape(page)}" style="width: 100%; height: {HEIGHT}px; border: 0" title="warplens"></iframe>'
    )
