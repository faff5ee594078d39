"""Score a submission in the folders of Codabench and CodaLab: `python score.py INPUT OUTPUT`."""

import json
import sys
from pathlib import Path

from mediaeval_ap import AveragePrecision, compare, validate
from mediaeval_ap.errors import Error

# A platform adds metadata; macOS adds the other two to a ZIP file.
NOT_SUBMITTED = {'metadata', '__MACOSX', '.DS_Store'}


def submitted_run(folder: Path) -> Path:
    """Return the only file that was submitted, in any folder of the ZIP file."""
    paths = [path for path in sorted(folder.rglob('*')) if path.is_file()]
    runs = [path for path in paths if NOT_SUBMITTED.isdisjoint(path.parts)]
    if len(runs) != 1:
        names = ', '.join(path.name for path in runs) or 'none'
        sys.exit(f'found {len(runs)} files ({names}), expected one run')
    return runs[0]


def main(inputs: Path, output: Path) -> None:
    reference = inputs / 'ref/reference.txt'
    queries = inputs / 'ref/queries.txt'
    run = submitted_run(inputs / 'res')
    errors = [problem for problem in validate(run) if problem.severity == 'error']
    if errors:
        sys.exit('\n'.join(f'{error}; {error.remedy}' for error in errors[:20]))
    average_precision = AveragePrecision(reference, K=[10, 100], definition='trec')
    evaluation = average_precision.evaluate(run, queries)
    (output / 'scores.json').write_text(json.dumps(evaluation.means))
    page = compare([evaluation], hide_labels=True)
    page.to_html(output / 'detailed_results.html')


if __name__ == '__main__':
    try:
        main(Path(sys.argv[1]), Path(sys.argv[2]))
    except Error as error:
        sys.exit(str(error))
