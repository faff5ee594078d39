"""The evaluation script of EvalAI."""

from .main import evaluate as evaluate
