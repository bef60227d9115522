"""Nodes in network namespaces of one machine, joined by links that the kernel shapes."""
