"""Compares throughput and instruction counts night after night and names the commit that made a case slower: docs/history.md"""
