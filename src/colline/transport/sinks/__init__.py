"""Destinations of events: console, file, lake, HTTP, Kafka, and objects that the user supplies."""
