"""The example of `colline demo`: a food-delivery platform on Delta, and questions about its lineage."""
