"""`python -m manetdiff`."""

from manetdiff.cli.app import main

if __name__ == "__main__":
    main()
