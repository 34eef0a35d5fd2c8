"""Mutation testing: random changes of logic, and whether the tests of an area notice them."""
