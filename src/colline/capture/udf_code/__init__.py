"""Reads the code of Python functions, without running it: is all that they return hashed or encrypted?"""
