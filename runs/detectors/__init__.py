"""What must not leave the machine: one sort of secret a file, found in any text."""
