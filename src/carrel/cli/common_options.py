"""The options that most commands take, in the order in which help names them."""

COMMON_OPTIONS = (
    "--home",
    "--config",
    "--rooms",
    "--snapshot",
    "--static",
    "--library",
    "--log-level",
    "--json",
)
