"""Puts results into words, tables and files."""
