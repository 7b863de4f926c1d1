"""The same questions for agents, over the Model Context Protocol."""
