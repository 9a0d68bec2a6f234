"""Command line: one short function a verb.

In: words of the command line.
Out: text on stdout, progress on stderr, an exit code.

Whatever takes more than a few lines stands in commands/ or report/.
"""
