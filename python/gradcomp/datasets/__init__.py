"""The code of tools/datasets, which converts data of installed packages and of the user to the project's formats
(docs/datasets.md)."""
