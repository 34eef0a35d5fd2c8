"""Search bodies in Elasticsearch's language: the part that is answered here, and what is passed on
to a real server.
"""
