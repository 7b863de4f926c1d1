"""`python -m colline` is the same program as `colline`."""

from colline.cli import main

main()
