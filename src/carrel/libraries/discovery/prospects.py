"""How likely two things are to be joined next: how alike the company they keep, and how often each
is taken up.
"""

from carrel.libraries.discovery.literatures import Company, similarity

# Fitted by logistic regression on eLife keyword pairs first joined by 2019, seen from papers up to
# 2014, 2015, 2016 and 2017
# (`make validate-discovery`), before they were measured on any later pair.
MENTION_POWER = 1.45
SUBJECT_POWER = 0.78
OPPORTUNITY_POWER = 0.73

# What a likeness of nothing counts for: two things with no company in common may yet meet.
LEAST_MENTION_LIKENESS = 1e-4
LEAST_SUBJECT_LIKENESS = 1e-3


def prospect(one: Company, other: Company) -> float:
    """An order among pairs, no probability: likeness where papers mention them, likeness where they
    are the subject, use.
    """
    mention = similarity(one.mentioned, other.mentioned) + LEAST_MENTION_LIKENESS
    subject = similarity(one.subject, other.subject) + LEAST_SUBJECT_LIKENESS
    taken_up = one.taken_up * other.taken_up
    return float(mention**MENTION_POWER * subject**SUBJECT_POWER * taken_up**OPPORTUNITY_POWER)
