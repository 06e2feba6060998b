"""What goes wrong between a client and the server."""

from __future__ import annotations

from manetdiff.errors import ManetDiffError


class ClientError(ManetDiffError):
    """The server cannot be reached, or refuses what it is asked for.

    - status: of the server's answer, such as 404; None where there was no answer.
    """

    def __init__(self, message: str = "", status: int | None = None) -> None:
        super().__init__(message)
        self.status = status
