/work/main/.venv/bin/python -m mediaeval_ap explain samples/reference.txt samples/hypothesis.txt --definition mediaeval-2016-final -k 10 --per-query
