"""Statistics of several runs: intervals, tests, ranks."""
