/work/main/.venv/bin/python -m mediaeval_ap explain samples/reference.txt samples/hypothesis.txt --queries samples/queries.txt --definition mediaeval-2016-final --format jsonl
