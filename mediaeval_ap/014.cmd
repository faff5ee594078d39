/work/main/.venv/bin/python -m mediaeval_ap explain samples/reference.txt samples/hypothesis.txt --definition mediaeval-2016 -k 10 --per-query
