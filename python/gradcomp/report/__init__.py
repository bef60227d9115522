"""The report on a folder of result files: tables and plots on one HTML page."""
