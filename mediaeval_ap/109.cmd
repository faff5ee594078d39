/work/main/.venv/bin/python -m mediaeval_ap evaluate samples/reference.txt samples/hypothesis.txt samples/hypothesis.txt -K 10
