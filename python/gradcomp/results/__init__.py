"""Reads and keeps result files and records."""
