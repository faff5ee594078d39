"""Score many queries in blocks: over processes, in parts, resumed."""
