"""Tables → arrays → answers: the lineage graph served from mapped arrays, and every question asked of it."""
