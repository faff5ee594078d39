"""The rules of validation, a module for each thing that they are about."""
