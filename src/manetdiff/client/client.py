"""A client of `manetdiff serve`, on the standard library alone.

with Client("http://127.0.0.1:8470") as client:
    patrol = client.create("Patrol")["id"]
    client.report(patrol, 0.0, fleet)
    topology = client.topology(patrol)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Self
from urllib.parse import quote

from manetdiff.client.address import Address, check_token, read_token
from manetdiff.client.connection import TIMEOUT_S, Connection
from manetdiff.client.errors import ClientError
from manetdiff.client.events import SILENCE_S, followed
from manetdiff.client.states import State
from manetdiff.fleet import Fleet
from manetdiff.formats.files import PathLike, Source
from manetdiff.formats.netjson import topology_in
from manetdiff.formats.nodes import written_columns
from manetdiff.messages import brief
from manetdiff.radio import Radio
from manetdiff.topology import Topology

NETWORKS = "/v1/networks"

Network = dict[str, Any]
Node = Mapping[str, Any]
Pair = tuple[str, str]


class Client:
    """Talks to one server; for one thread at a time. What the server refuses is a ClientError with its words.

    - url: such as `http://127.0.0.1:8470`. token: what the server was started with; or token_file, which holds it.
    - insecure: send the token over http to another machine, where anyone on the way can read it.
    - timeout: seconds that the server may take for an answer.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        token_file: PathLike | None = None,
        insecure: bool = False,
        timeout: float = TIMEOUT_S,
    ) -> None:
        self.address = Address.of(url)
        if token is not None and token_file is not None:
            raise ClientError("give a token or a file that holds it, not both")
        if token_file is not None:
            token = read_token(token_file)
        headers = {}
        if token is not None:
            check_token(token)
            if not (self.address.is_private or insecure):
                raise ClientError(f"{self.address}: a token is sent to other machines over https only (or insecurely)")
            headers["Authorization"] = f"Bearer {token}"
        self._connection = Connection(self.address, headers, timeout)

    def networks(self) -> list[Network]:
        """All networks of the server."""
        found = self._connection.asked("GET", NETWORKS).get("networks")
        if not isinstance(found, list):
            raise ClientError(f"{self.address}: lists no networks: is it a 'manetdiff serve'?")
        return found

    def create(
        self, name: str, radio: Radio | Mapping[str, Any] | None = None, settings: Mapping[str, Any] | None = None
    ) -> Network:
        """A new network. radio: its parameters, or `{"link_budget": {…}}`. settings: those that are not as usual."""
        given = {
            "name": name,
            "radio": radio.to_dict() if isinstance(radio, Radio) else radio,
            "settings": settings,
        }
        wanted = {field: value for field, value in given.items() if value is not None}
        return self._connection.asked("POST", NETWORKS, wanted, afresh=True)

    def network(self, id: str) -> Network:
        """What the server says of a network."""
        return self._connection.asked("GET", _path(id))

    def named(self, wanted: str | None) -> Network:
        """The network of this id, or else of this name; None: the only one there is."""
        there = self.networks()
        fitting = [one for one in there if wanted in (None, one["id"])] or [
            one for one in there if one["name"] == wanted
        ]
        if len(fitting) == 1:
            return fitting[0]
        known = ", ".join(f"{one['id']} ({brief(one['name'])})" for one in fitting or there) or "none"
        what = "networks" if wanted is None else f"networks {brief(wanted)}"
        if fitting:
            raise ClientError(f"{self.address}: there are {len(fitting)} {what}: choose one by its id: {known}")
        raise ClientError(f"{self.address}: there is no network{f' {brief(wanted)}' if wanted else ''}; known: {known}")

    def report(
        self, id: str, time: float, nodes: Fleet | Iterable[Node], complete: bool = False, wait: bool = True
    ) -> dict[str, Any]:
        """Say where nodes are at a time, in seconds; the answer says what has become of the topology.

        - nodes: a fleet, which is sent in degrees where it has a frame and in metres otherwise; or objects: "id", "x",
          "y" and perhaps "z", "yaw" (metres, radians), or of "id", "lat", "lon" and perhaps "alt", "heading" (degrees).
        - complete: nodes that are not among them have left. wait: for the topology; otherwise the answer says only
          that the report was taken.
        """
        body = {"time": time, "nodes": nodes_of(nodes) if isinstance(nodes, Fleet) else [*nodes], "complete": complete}
        path = f"{_path(id)}/positions?wait={'true' if wait else 'false'}"
        return self._connection.asked("POST", path, body)

    def topology(self, id: str, version: int | None = None) -> Topology:
        """The topology of a version, by default the present one; it knows its fleet and its radio."""
        path = f"{_path(id)}/topology{'' if version is None else f'?version={version:d}'}"
        answer = self._connection.exchanged("GET", path)
        return topology_in(Source(f"{self.address}{path}", answer.body))[1]

    def pins(
        self, id: str, keep: Iterable[Pair] = (), avoid: Iterable[Pair] = (), silent: Iterable[str] = ()
    ) -> Network:
        """Set what the topology must and must not have: links to keep and to avoid, nodes to be silent, all by id."""
        pins = {"keep": [*map(list, keep)], "avoid": [*map(list, avoid)], "silent": [*silent]}
        return self._connection.asked("PUT", f"{_path(id)}/pins", pins)

    def unpin(self, id: str) -> Network:
        """Take all pins away."""
        return self._connection.asked("DELETE", f"{_path(id)}/pins")

    def events(self, id: str, trouble: Callable[[str], None] | None = None) -> Iterator[State]:
        """The states of a network as they come, the present one first, until it is deleted.

        Over a connection of its own, which is opened again when it breaks. trouble: called with what is wrong then.
        """
        own = Connection(self.address, self._connection.headers, SILENCE_S)
        return followed(own, f"{_path(id)}/events", trouble)

    def delete(self, id: str) -> None:
        """Delete a network, with all of its versions."""
        self._connection.asked("DELETE", _path(id))

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def nodes_of(fleet: Fleet) -> list[dict[str, Any]]:
    """The nodes of a fleet as a report holds them: in degrees where it has a frame, and in metres otherwise."""
    columns = written_columns(fleet)
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [{"id": name, **dict(zip(columns, row, strict=True))} for name, row in zip(fleet.ids, rows, strict=True)]


def _path(id: str) -> str:
    return f"{NETWORKS}/{quote(id, safe='')}"
