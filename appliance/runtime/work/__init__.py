"""A worker: one slot of a pool, its two threads, and how a claimed piece of work becomes an outcome."""
