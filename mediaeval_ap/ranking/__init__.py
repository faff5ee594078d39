"""The order of hypotheses for a query: names by edit distance, ties by place."""
