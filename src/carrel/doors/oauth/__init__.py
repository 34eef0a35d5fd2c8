"""What OAuth needs at the HTTP door: metadata, challenges, the log-in and consent pages, and the
endpoints for programs.
"""
