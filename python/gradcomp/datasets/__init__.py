"""Behind tools/datasets: data of installed packages and of the user, in the project's formats (docs/datasets.md)."""
