"""Files that mean harm, and what has to become of them."""
