"""The built-in workloads, written as a vendor would write them."""
