"""Faults that are injected into real processes of the programs and tools, and what they cost: docs/reliability.md."""
