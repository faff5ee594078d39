/work/main/.venv/bin/python -m mediaeval_ap map samples/fashion_truth.csv samples/fashion_predictions.csv --per-query --format latex
