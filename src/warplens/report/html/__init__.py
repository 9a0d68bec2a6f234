"""HTML reports: one self-contained page for a launch, a lab or a notebook.

In: views of report/.
Out: a page with style and script inside, readable without a network, in light and dark, in print and by screen readers.

templates/ has one Jinja template a page or part (components.html.j2: what they share), assets/ the style and the script
of all pages.
"""
