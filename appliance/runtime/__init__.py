"""The processes."""
