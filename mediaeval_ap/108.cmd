/work/main/.venv/bin/python -m mediaeval_ap rank samples/reference.txt samples/hypothesis.txt alain_juppe -n 5
