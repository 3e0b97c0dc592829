"""The host's half of tests/vm: one module per job. The guest's half is in tests/vm/in_guest."""
