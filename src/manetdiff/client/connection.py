"""One kept HTTP connection: a request and its answer, or a stream of lines. No redirects, no cookies, no proxies."""

from __future__ import annotations

import http.client
import json
import ssl
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from manetdiff.client.address import Address
from manetdiff.client.errors import ClientError
from manetdiff.files import reason
from manetdiff.json_settings import parsed_json
from manetdiff.messages import brief

LARGEST_ANSWER = 64_000_000  # bytes
# Answers of a server that has too much to do; it says when to come again.
BUSY = (429, 503)
ATTEMPTS = 4
LONGEST_WAIT_S, USUAL_WAIT_S = 30.0, 1.0
TIMEOUT_S = 60.0


class Answer(NamedTuple):
    """What a server has answered. retry_after: seconds, where it says so."""

    status: int
    body: bytes
    retry_after: float | None

    @property
    def document(self) -> Any:
        """The JSON in it; None where it is empty."""
        if not self.body.strip():
            return None
        try:
            return parsed_json(self.body)
        except ValueError as error:
            raise ClientError(f"the server's answer {error}: is it a 'manetdiff serve'?", self.status) from None


class Connection:
    """To one address, kept open from one request to the next; for one thread at a time.

    - headers: sent with every request. timeout: seconds that a server may be silent.
    """

    def __init__(self, address: Address, headers: Mapping[str, str] | None = None, timeout: float = TIMEOUT_S) -> None:
        self.address, self.headers, self.timeout = address, dict(headers or {}), timeout
        self._kept: http.client.HTTPConnection | None = None

    def asked(self, method: str, path: str, body: object = None, *, afresh: bool = False) -> dict[str, Any]:
        """The JSON object that the server answers; an empty one where it answers nothing. Otherwise as `exchanged`."""
        answer = self.exchanged(method, path, body, afresh=afresh)
        document = answer.document
        if not isinstance(document, dict | None):
            raise ClientError(f"{self.address}: answers no JSON object: is it a 'manetdiff serve'?", answer.status)
        return document or {}

    def exchanged(self, method: str, path: str, body: object = None, *, afresh: bool = False) -> Answer:
        """The server's answer; whatever is no success is a ClientError that says what the server says.

        A server that is busy is asked again a few times, when it says. afresh: over a new connection, because what is
        asked for must not happen twice, and of a kept connection that breaks off nobody knows whether it has.
        """
        if afresh:
            self.close()
        for _ in range(ATTEMPTS - 1):
            answer = self.exchange(method, path, body)
            if answer.status not in BUSY:
                break
            wait = USUAL_WAIT_S if answer.retry_after is None else answer.retry_after
            time.sleep(min(wait, LONGEST_WAIT_S))
        else:
            answer = self.exchange(method, path, body)
        if not 200 <= answer.status < 300:
            raise refusal(self.address, answer)
        return answer

    def exchange(self, method: str, path: str, body: object = None) -> Answer:
        """One request and whatever is answered to it. body: made JSON; None: nothing is sent."""
        reused = self._kept is not None
        try:
            return self._exchange(method, path, body)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            if reused and isinstance(error, ConnectionError):
                # A server closes connections on which nothing was asked for a while: no reason to give up.
                return self.exchange(method, path, body)
            raise _unreachable(self.address, error) from None

    @contextmanager
    def lines(self, path: str, longest: int = LARGEST_ANSWER) -> Iterator[Iterator[bytes]]:
        """The lines of an answer that goes on, over a connection of its own, as they come.

        They end where the server ends them; a connection that breaks off, or is silent for too long, is a ClientError.
        """
        connection = self._opened()
        try:
            connection.request("GET", self.address.path + path, headers={**self.headers, "Accept": "text/event-stream"})
            response = connection.getresponse()
            if response.status != 200:
                raise refusal(self.address, _answer(response))
            yield _lines(response, longest)
        except (OSError, http.client.HTTPException) as error:
            raise _unreachable(self.address, error) from None
        finally:
            connection.close()

    def close(self) -> None:
        """Close the kept connection; the next request opens another."""
        if self._kept is not None:
            self._kept.close()
            self._kept = None

    def _exchange(self, method: str, path: str, body: object) -> Answer:
        if self._kept is None:
            self._kept = self._opened()
        headers = dict(self.headers)
        data = None
        if body is not None:
            data = _written(body)
            headers["Content-Type"] = "application/json"
        self._kept.request(method, self.address.path + path, data, headers)
        answer = _answer(self._kept.getresponse())
        if len(answer.body) > LARGEST_ANSWER:
            self.close()
            raise ClientError(f"{self.address}: answers more than {LARGEST_ANSWER // 1_000_000} MB", answer.status)
        return answer

    def _opened(self) -> http.client.HTTPConnection:
        host, port = self.address.host, self.address.port
        if not self.address.secure:
            return http.client.HTTPConnection(host, port, timeout=self.timeout)
        return http.client.HTTPSConnection(host, port, timeout=self.timeout, context=ssl.create_default_context())


def refusal(address: Address, answer: Answer) -> ClientError:
    """What to raise for an answer that is no success, in the server's own words where it has some."""
    try:
        told = answer.document
    except ClientError:
        told = None
    said = told.get("detail") if isinstance(told, dict) else None
    words = said if isinstance(said, str) else f"answers {answer.status} {http.client.responses.get(answer.status, '')}"
    return ClientError(f"{address}: {words.strip()}", answer.status)


def _written(body: object) -> bytes:
    try:
        return json.dumps(body, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise ClientError(f"cannot be sent as JSON: {error}") from None


def _answer(response: http.client.HTTPResponse) -> Answer:
    body = response.read(LARGEST_ANSWER + 1)
    after = response.getheader("Retry-After", "")
    # It may be a date as well; then it is as if it were not there.
    return Answer(response.status, body, float(after) if after.isdecimal() and len(after) < 7 else None)


def _lines(response: http.client.HTTPResponse, longest: int) -> Iterator[bytes]:
    while line := response.readline(longest + 1):
        if len(line) > longest:
            raise ClientError(f"the server sends a line of more than {longest // 1_000_000} MB")
        yield line.rstrip(b"\r\n")


def _unreachable(address: Address, error: Exception) -> ClientError:
    if isinstance(error, TimeoutError):
        return ClientError(f"{address}: does not answer in time")
    words = reason(error) or brief(error)
    return ClientError(f"{address}: cannot be reached: {words}")
