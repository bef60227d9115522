"""Result files and records: how they are read, and kept."""
