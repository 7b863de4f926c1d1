"""Commands that run the pipeline and the server, and look after a lake."""
