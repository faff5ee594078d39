"""Score a submission for EvalAI, which calls `evaluate`."""

import warnings

from mediaeval_ap import AveragePrecision, validate
from mediaeval_ap.errors import Error, NoOverlapWarning

SPLIT = 'test_split'  # as in challenge_config.yaml
NO_MATCH = (
    'no shot, or no name, of the run is in the reference, or ids lost their leading zeros: compare '
    'columns, names and ids with the description of the task'
)


def evaluate(annotation, submission, phase, **kwargs):
    """Return the scores of a submitted file, by split."""
    errors = [problem for problem in validate(submission) if problem.severity == 'error']
    if errors:
        raise ValueError('\n'.join(f'{error}; {error.remedy}' for error in errors[:20]))
    with warnings.catch_warnings(action='ignore'):  # messages quote the reference
        warnings.simplefilter('error', NoOverlapWarning)
        try:
            average_precision = AveragePrecision(annotation, K=[10, 100], definition='trec')
            evaluation = average_precision.evaluate(submission)
        except NoOverlapWarning:
            raise ValueError(NO_MATCH) from None
        except Error:
            raise ValueError('the annotations have errors: tell the organisers') from None
    return {'result': [{SPLIT: evaluation.means}], 'submission_result': evaluation.means}
