"""Results: values by query and in the mean, notes, and a manifest of what they come from."""
