"""The same questions over HTTP: receiver of OpenLineage events, REST, and the page."""
