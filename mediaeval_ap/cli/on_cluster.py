"""``evaluate --scheduler``: runs scored by the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from mediaeval_ap.cli import kept_blocks
from mediaeval_ap.cli.several_runs import Reporting
from mediaeval_ap.errors import ParameterError

if TYPE_CHECKING:
    from mediaeval_ap.average_precision import AveragePrecision
    from mediaeval_ap.execute.resuming import KeptRun
    from mediaeval_ap.results.evaluation import Evaluation


def evaluate_on_cluster(
    scheduler: str,
    average_precision: AveragePrecision,
    runs: Sequence[str],
    queries: Any,
    measures: list[str],
    resume: str | None,
    report: Reporting,
) -> None:
    """Score runs side by side, and write their results."""
    from mediaeval_ap.cluster.connecting import connected
    from mediaeval_ap.cluster.evaluating import check_stores, compute_kept, evaluate_runs
    from mediaeval_ap.execute.evaluating import given_out

    def evaluate(of: Sequence[str]) -> list[Evaluation]:
        return evaluate_runs(average_precision, of, queries, measures, client)

    with connected(scheduler) as client:
        if resume is not None:
            folder = resume

            def keep() -> list[KeptRun]:
                check_stores(runs)
                kept = average_precision._keep(runs, queries, measures, folder)
                compute_kept(kept, client)
                return kept

            kept_blocks.evaluate_kept(keep, runs, None, 1, report)
        elif report.keep_going:
            report.write(runs, lambda run: list(map(given_out, evaluate([run]))))
        else:
            try:
                evaluations = evaluate(runs)
            except ParameterError as error:
                raise click.UsageError(str(error)) from error
            report.write(runs, lambda _, evaluation: [given_out(evaluation)], evaluations)
