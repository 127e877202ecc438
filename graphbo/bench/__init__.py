"""Tasks × methods × seeds: what each method finds, in tables and figures."""
