"""`manetdiff serve`: the live controller."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from manetdiff.cli import options
from manetdiff.cores import usable_cores
from manetdiff.errors import ManetDiffError
from manetdiff.weights import DEFAULT

DATABASE = "sqlite:///manetdiff.db"


def command(
    host: Annotated[
        str, typer.Option(help="Address to listen at; beyond this machine a token is needed.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="0: any free one.", min=0, max=65535)] = 8470,
    database: Annotated[
        str, typer.Option(help="sqlite:///FILE or postgresql://USER@HOST/NAME.", metavar="URL")
    ] = DATABASE,
    token_file: Annotated[
        str | None, typer.Option(help="File with the token that every call must bear.", metavar="FILE")
    ] = None,
    tls_certificate: Annotated[str | None, typer.Option(help="For TLS.", metavar="FILE")] = None,
    tls_key: Annotated[str | None, typer.Option(help="For TLS.", metavar="FILE")] = None,
    behind_proxy: Annotated[
        bool, typer.Option("--behind-proxy", help="A proxy takes care of TLS; its word on addresses is taken.")
    ] = False,
    allow_host: Annotated[
        list[str] | None, typer.Option(help="Name under which it is reached; can be given again.", metavar="NAME")
    ] = None,
    advertise: Annotated[
        str | None,
        typer.Option(
            help="Where other replicas on the same PostgreSQL reach this one. Default: where it listens.", metavar="URL"
        ),
    ] = None,
    demo: Annotated[
        bool,
        typer.Option("--demo", help="With a network whose fleet is in flight; opens the page where there is a screen."),
    ] = False,
    weights: options.Weights = DEFAULT,
    workers: Annotated[int | None, typer.Option(help="Updates at a time. Default: one a core.", min=1, max=256)] = None,
    keep_versions: Annotated[int, typer.Option(help="Of each network's history.", min=1)] = 10_000,
    keep_days: Annotated[float, typer.Option(help="Of each network's history.", min=0.0)] = 7.0,
    max_networks: Annotated[int, typer.Option(help="More are refused.", min=1)] = 100,
    max_viewers: Annotated[int, typer.Option(help="More are refused.", min=1)] = 500,
    max_rate: Annotated[float, typer.Option(help="Reports a second of a network; more are refused.", min=0.1)] = 50.0,
    json_log: Annotated[bool, typer.Option("--json-log", help="The log as JSON, a line an entry.")] = False,
) -> None:
    """Run networks as a service: positions stream in, topologies stream out, and a page shows them.

    \b
    Examples:
      manetdiff serve --demo
      manetdiff serve --database sqlite:///topologies.db --port 8470
      manetdiff serve --host 0.0.0.0 --token-file token --tls-certificate cert.pem --tls-key key.pem
    """
    try:
        from manetdiff.server.config import Config, Limits, token_in
        from manetdiff.server.run import run
    except ModuleNotFoundError as error:
        raise ManetDiffError(f"the service needs {error.name}: pip install 'manetdiff[serve]'") from None

    for file in (tls_certificate, tls_key):
        if file is not None and not Path(file).is_file():
            raise ManetDiffError(f"{file}: there is no such file")
    config = Config(
        database=database,
        host=host,
        port=port,
        token=None if token_file is None else token_in(token_file),
        certificate=tls_certificate,
        key=tls_key,
        behind_proxy=behind_proxy,
        hosts=tuple(allow_host or ()),
        advertise=advertise,
        weights=weights,
        workers=workers or usable_cores(),
        demo=demo,
        limits=Limits(
            networks=max_networks,
            viewers=max_viewers,
            rate=max_rate,
            burst=max(1.0, 2 * max_rate),
            versions=keep_versions,
            days=keep_days,
        ),
    )
    run(config, json_log=json_log, show=demo)
