"""The steward: who frees the work of the dead and keeps the ledger in order."""
