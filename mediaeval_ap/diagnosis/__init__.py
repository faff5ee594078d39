"""Diagnosis of one run: the parts of its loss, and the bounds over all orders of ties."""
