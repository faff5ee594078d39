/work/main/.venv/bin/python -m mediaeval_ap validate samples/hypothesis.txt --rules none --format markdown
