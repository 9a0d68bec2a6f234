"""JSON reports: one document a launch or a lab; the schemas lie beside the modules.

In: views of report/.
Out: documents with a version; every metric has value, unit and provenance.

No key depends on the terminal or the locale.
"""
