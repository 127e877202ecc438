"""Programs that print a table: ``python benchmarks/NAME.py``."""
