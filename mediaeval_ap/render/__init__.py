"""Documents of results, and the output formats that render them."""
