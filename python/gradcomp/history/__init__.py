"""Throughput and instruction counts night after night: which commit made what slower? docs/history.md"""
