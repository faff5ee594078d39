"""Read, score, diagnose and compare the runs of a campaign, each read once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mediaeval_ap.campaign.campaign_report import CampaignReport
from mediaeval_ap.campaign.caveats import Alternatives
from mediaeval_ap.campaign.rankings import Rankings
from mediaeval_ap.comparison.comparing import compare
from mediaeval_ap.comparison.settings import Settings
from mediaeval_ap.definitions import Cutoff
from mediaeval_ap.diagnosis.diagnosis import Diagnosis
from mediaeval_ap.diagnosis.explaining import diagnose
from mediaeval_ap.errors import DataWarning
from mediaeval_ap.evaluation.criteria import Criteria
from mediaeval_ap.evaluation.whole_run import evaluate_run, names_asked, read_counted
from mediaeval_ap.results.evaluation import Evaluation
from mediaeval_ap.tables import Table


def collect(
    criteria: Criteria,
    runs: Mapping[str, Any],
    queries: Table | None,
    k: Cutoff,
    near: float,
    settings: Settings,
) -> CampaignReport:
    """Return the report about runs, by their names."""
    evaluations: dict[str, Evaluation] = {}
    diagnoses: dict[str, Diagnosis] = {}
    found: dict[str, DataWarning] = {}
    alternatives: dict[str, Alternatives] = {}
    cutoffs = list(dict.fromkeys([k, criteria.K[-1]]))  # of the loss, and of the headline
    asked = sorted(names_asked(criteria, queries)[0])  # as compare sorts
    rankings = Rankings(criteria, asked, len(runs))
    for name, hypothesis in runs.items():
        run = read_counted(criteria, hypothesis)
        evaluations[name] = evaluate_run(run, queries)
        diagnoses[name], *_ = found_at = diagnose(criteria, run, queries, cutoffs, near)
        alternatives[name] = Alternatives.of(found_at[-1])
        rankings.add(name, run)
        found |= {str(warning): warning for warning in evaluations[name].warnings}
    reference, subset = criteria.reference.table, criteria.subset
    comparison = compare(evaluations, reference=reference, subset=subset, **settings.to_dict())
    return CampaignReport(
        comparison,
        {run: diagnoses[run] for run in comparison.runs},
        {run: evaluations[run] for run in comparison.runs},
        rankings.to_dict(comparison.runs),
        {run: alternatives[run] for run in comparison.runs},
        tuple(found.values()),
    )
