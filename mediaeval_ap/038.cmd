/work/main/.venv/bin/python -m mediaeval_ap explain samples/reference.txt samples/hypothesis.txt --queries samples/queries.txt --definition trec --format markdown
