"""`python -m colline` is the same program as `colline`."""

from colline.cli import main

if __name__ == "__main__":  # worker processes import the main module under another name
    main()
