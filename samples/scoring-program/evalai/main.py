"""Score a submission for EvalAI, which calls `evaluate`."""

from mediaeval_ap import AveragePrecision, validate

SPLIT = 'test_split'  # as in challenge_config.yaml


def evaluate(annotation, submission, phase, **kwargs):
    """Return the scores of a submitted file, by split."""
    errors = [problem for problem in validate(submission) if problem.severity == 'error']
    if errors:
        raise ValueError('\n'.join(f'{error}; {error.remedy}' for error in errors[:20]))
    average_precision = AveragePrecision(annotation, K=[10, 100], definition='trec')
    evaluation = average_precision.evaluate(submission)
    return {'result': [{SPLIT: evaluation.means}], 'submission_result': evaluation.means}
