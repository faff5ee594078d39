"""The order of hypotheses for a query, and what it is made of."""
