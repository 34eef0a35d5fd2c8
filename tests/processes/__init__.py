"""Processes of Python that begin warm: real ones, forked from one that has imported Carrel.

Importing Carrel takes most of the time of a command, and the tests start hundreds of them.
`warm.run` and `warm.start` take the words and options of `subprocess`; what is promised about the
start of a program itself (what it imports, its first output) belongs to `subprocess`.
"""
