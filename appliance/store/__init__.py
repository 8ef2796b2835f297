"""SQLite, and nothing else."""
