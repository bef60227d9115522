"""Mutation tests: builds mutants of a folder's sources in a copy of the tree and runs the tests that must notice them."""
