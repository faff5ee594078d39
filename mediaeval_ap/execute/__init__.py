"""Score many queries in blocks: by several processes, in parts, resumed."""
