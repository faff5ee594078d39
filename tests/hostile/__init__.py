"""Files that mean harm, and the outcome that each must have."""
