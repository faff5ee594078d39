"""Inputs of challenges: the samples, tables and files."""

from pathlib import Path

import pandas

SAMPLES = Path(__file__).parents[1] / 'samples'


def table(header, *rows):
    return pandas.DataFrame(rows, columns=header.split(','), dtype=object)


def written(tmp_path, truth, predictions):
    for name, text in ('truth', truth), ('predictions', predictions):
        (tmp_path / f'{name}.csv').write_text(text)
    return tmp_path / 'truth.csv', tmp_path / 'predictions.csv'
