"""Results: values by query and in the mean, notes, and a manifest of settings and inputs."""
