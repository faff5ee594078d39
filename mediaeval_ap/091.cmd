/work/main/.venv/bin/python -m mediaeval_ap gap samples/landmarks_truth.csv samples/landmarks_predictions.csv --per-query --format json
