"""Inputs of challenges: the samples, tables and files."""

import csv
from pathlib import Path

import pandas

SAMPLES = Path(__file__).parents[1] / 'samples'


def sample(name):
    with (SAMPLES / f'{name}.csv').open(newline='') as file:
        return list(csv.DictReader(file))


def table(header, *rows):
    return pandas.DataFrame(rows, columns=header.split(','), dtype=object)


def written(tmp_path, truth, predictions):
    for name, text in ('truth', truth), ('predictions', predictions):
        (tmp_path / f'{name}.csv').write_text(text)
    return tmp_path / 'truth.csv', tmp_path / 'predictions.csv'
