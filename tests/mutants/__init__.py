"""Mutation testing: small random changes of logic, and whether the tests of the area notice them."""
