"""What may happen to work, and the statement that makes it happen."""
