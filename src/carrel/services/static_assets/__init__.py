"""Static files of a corpus by relative name, from a folder or over HTTP. Errors never say where was
looked.
"""
