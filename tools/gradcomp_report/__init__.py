"""Reports on gradcomp result files: load, tabulate, plot, render."""
