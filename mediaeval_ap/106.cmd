/work/main/.venv/bin/python -m mediaeval_ap help definitions
