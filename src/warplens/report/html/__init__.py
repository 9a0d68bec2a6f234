"""HTML reports: one self-contained page for a launch, a lab or a notebook.

In: views of report/.
Out: a page with style and script inside, readable without a network.

Templates lie beside the modules.
"""
