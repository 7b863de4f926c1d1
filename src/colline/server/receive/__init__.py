"""Takes OpenLineage events over HTTP: reads the body, validates it, and makes it durable before the reply."""
