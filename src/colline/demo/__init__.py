"""A food-delivery platform on Delta: jobs to capture, and the questions one asks of them."""
