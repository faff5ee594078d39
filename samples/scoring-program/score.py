"""Score a submission in the folders of Codabench and CodaLab: `python score.py INPUT OUTPUT`."""

import json
import sys
import warnings
from pathlib import Path

from mediaeval_ap import AveragePrecision, Evaluation, compare, validate
from mediaeval_ap.errors import Error, NoOverlapWarning

# A platform adds metadata; macOS adds the other two to a ZIP file.
NOT_SUBMITTED = {'metadata', '__MACOSX', '.DS_Store'}
NO_MATCH = (
    'no shot, or no name, of the run is in the reference, or ids lost their leading zeros: compare '
    'columns, names and ids with the description of the task'
)


def submitted_run(folder: Path) -> Path:
    """Return the only file that was submitted, in any folder of the ZIP file."""
    paths = [path for path in sorted(folder.rglob('*')) if path.is_file()]
    runs = [path for path in paths if NOT_SUBMITTED.isdisjoint(path.parts)]
    if len(runs) != 1:
        names = ', '.join(path.name for path in runs) or 'none'
        sys.exit(f'found {len(runs)} files ({names}), expected one run')
    return runs[0]


def evaluate(run: Path, reference: Path, queries: Path) -> Evaluation:
    """Score a run; tell no warnings and errors, which quote the reference to participants."""
    warnings.simplefilter('ignore')
    warnings.simplefilter('error', NoOverlapWarning)
    try:
        average_precision = AveragePrecision(reference, K=[10, 100], definition='trec')
        return average_precision.evaluate(run, queries)
    except NoOverlapWarning:
        sys.exit(NO_MATCH)
    except Error:
        sys.exit('the reference or the queries have errors: tell the organisers')


def main(inputs: Path, output: Path) -> None:
    run = submitted_run(inputs / 'res')
    errors = [problem for problem in validate(run) if problem.severity == 'error']
    if errors:
        sys.exit('\n'.join(f'{error}; {error.remedy}' for error in errors[:20]))
    evaluation = evaluate(run, inputs / 'ref/reference.txt', inputs / 'ref/queries.txt')
    (output / 'scores.json').write_text(json.dumps(evaluation.means))
    page = compare([evaluation], hide_labels=True)
    page.to_html(output / 'detailed_results.html')


if __name__ == '__main__':
    try:
        main(Path(sys.argv[1]), Path(sys.argv[2]))
    except Error as error:
        sys.exit(str(error))
