"""Bounds, pools and the next judgements where a reference is incomplete."""
