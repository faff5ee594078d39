"""Documents, and the output formats that render them."""
