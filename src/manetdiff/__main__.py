"""`python -m manetdiff`."""

from manetdiff.cli.entry import main

if __name__ == "__main__":
    main()
