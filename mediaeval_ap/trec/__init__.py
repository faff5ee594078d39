"""TREC files: what others wrote, scored; runs of a campaign, written for others."""

from mediaeval_ap.trec.topic_scores import evaluate_trec

__all__ = ['evaluate_trec']
