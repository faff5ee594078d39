"""The report about the runs of a campaign: contents of its page."""
