"""Mutation tests: mutants of a folder's sources, built in a copy of the tree, and the tests that must notice them."""
