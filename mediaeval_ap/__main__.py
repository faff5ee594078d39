"""``python -m mediaeval_ap``."""

from mediaeval_ap.cli import main

main(prog_name='mediaeval-ap')
