"""Scores of plain TREC files, and exports of campaign runs in the formats of TREC."""

from mediaeval_ap.trec.matched_run import read_qrels
from mediaeval_ap.trec.topic_scores import evaluate_trec

__all__ = ['evaluate_trec', 'read_qrels']
