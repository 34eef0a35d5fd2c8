"""The knowledge room: notes that are kept and shared, named nodes, and search bodies over
indices.
"""
