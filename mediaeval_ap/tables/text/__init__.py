"""Text, line by line: its format, its reader, and the fast reader of large files."""
