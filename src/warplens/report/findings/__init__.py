"""Findings in reports: what each is worth, what to write instead, and a launch in a few sentences.

In: a launch view, and its findings with their remedies.
Out: lines for a terminal or a page, and documents of at most 2 KB.

It does not know how findings are made (rules/) nor how remedies are found (advice/).
"""
