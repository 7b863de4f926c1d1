"""The OpenAPI document and the reference page of the REST interface."""
