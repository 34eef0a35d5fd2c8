"""The retry policy that every client over the network follows."""

from __future__ import annotations

import pytest

from carrel.services.retry import RetryPolicy, parse_retry_after


def test_waits_double_up_to_the_longest_and_a_server_that_names_one_is_heard() -> None:
    policy = RetryPolicy(max_attempts=5, initial_backoff_seconds=0.5, max_backoff_seconds=3.0)
    assert [policy.backoff_seconds(attempt) for attempt in range(1, 6)] == [0.5, 1, 2, 3, 3]
    assert policy.backoff_seconds(1, retry_after_seconds=2.5) == 2.5
    assert policy.backoff_seconds(4, retry_after_seconds=0.0) == 0.0
    assert policy.backoff_seconds(1, retry_after_seconds=600.0) == 3.0


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7.0),
        (" 1.5 ", 1.5),
        ("Thu, 01 Jan 1970 00:00:09 GMT", 4.0),
        ("Thu, 01 Jan 1970 00:00:01 GMT", 0.0),
        ("soon", None),
        ("-3", None),
        ("", None),
        (None, None),
    ],
)
def test_retry_after_is_a_number_of_seconds_or_a_date(
    header: str | None, seconds: float | None
) -> None:
    assert parse_retry_after(header, now=5.0) == seconds
