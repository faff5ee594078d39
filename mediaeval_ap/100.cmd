/work/main/.venv/bin/python -m mediaeval_ap lrap samples/sounds_truth.csv samples/sounds_scores.csv --format markdown
