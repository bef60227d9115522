"""How results are put into words, tables and files."""
