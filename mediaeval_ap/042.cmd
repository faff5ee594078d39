/work/main/.venv/bin/python -m mediaeval_ap explain samples/reference.txt samples/hypothesis.txt --definition trec -k 10 --per-query
