"""Descriptions of works: what a source or a reference list says of a paper, and which are one."""
