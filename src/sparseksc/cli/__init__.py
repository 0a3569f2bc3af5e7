"""The command line ``ksc``: thin commands over the library, quick to start.

``main`` runs a command and turns what happens into an exit code; ``commands`` declares what
can be written on the line; each command's work is in the module of its name, which is imported
only when the command runs.
"""
