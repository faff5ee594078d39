/work/main/.venv/bin/python -m mediaeval_ap evaluate samples/reference.txt samples/hypothesis.txt --queries samples/queries.txt -K 10,100 --definition mediaeval-2016-final --per-query --format latex
