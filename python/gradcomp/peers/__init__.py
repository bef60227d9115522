"""Trains the same networks on the same batches in PyTorch, with its own hooks that compress gradients (docs/training.md)."""
