"""What each command does, in the file of its name; imported only when the command runs."""
