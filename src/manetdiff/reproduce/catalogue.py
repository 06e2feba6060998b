"""All tables by name, in the order of the paper; what it does not have, and the agreement with it, come last."""

from __future__ import annotations

from manetdiff.reproduce import (
    flights,
    frontier,
    generalisation,
    inference,
    modulation,
    partial,
    raw_tables,
    throughput,
)
from manetdiff.reproduce.agreement import pages as agreement
from manetdiff.reproduce.tables import PaperTable

TABLES: dict[str, PaperTable] = {
    table.name: table
    for table in (
        PaperTable(
            "properties",
            "Properties of generated graphs",
            "The paper: from GraphVAE to NetDiff with ACAM, links, lengths, rates and saturation come nearer to "
            "the target.",
            raw_tables.properties,
        ),
        PaperTable(
            "throughput",
            "Throughput at 16 and 32 nodes",
            "The paper: NetDiff has 99 % (16 nodes) and 95 % (32) of the target's throughput, far ahead of every "
            "heuristic.",
            throughput.throughput,
        ),
        PaperTable(
            "constraints",
            "Constraint satisfaction",
            "The paper: CAM tokens keep more constraints than the statistics of DDPM-GT, ACAM tokens more than CAM.",
            raw_tables.constraints,
        ),
        PaperTable(
            "losses",
            "The loss terms",
            "The paper: without the penalties antennas saturate twice as often and the parity is lost.",
            raw_tables.losses,
        ),
        PaperTable(
            "tokens", "How many tokens", "The paper: more ACAM tokens saturate fewer antennas.", raw_tables.tokens
        ),
        PaperTable(
            "thirty-two",
            "32 nodes",
            "The paper: a network that has seen 16 and 32 nodes (60/40) does about as well on 32 as on 16.",
            raw_tables.thirty_two,
        ),
        PaperTable(
            "modulation",
            "What the tokens are worth",
            "The paper: CAM and ACAM tokens keep more constraints than statistics, the more so the larger the network.",
            modulation.modulation,
        ),
        PaperTable(
            "partial",
            "Partial diffusion",
            "The paper: updates keep 21 % (standard) and 41 % (minor) more of the links than generating anew, "
            "3.3 to 5 times faster.",
            partial.partial,
        ),
        PaperTable(
            "steps",
            "Steps against movement",
            "The paper: 10 to 15 steps are the best at a movement of 0.3, 7 to 10 at 0.1.",
            partial.steps,
        ),
        PaperTable(
            "inference",
            "Time of inference",
            "The paper: a full pass takes under 2 s on a CPU; an update 3.3 to 5 times less; the correction at "
            "most 100 ms.",
            inference.on_a_core,
        ),
        PaperTable(
            "inference-gpu",
            "Time of inference on a GPU",
            "The paper: a full pass takes about 450 ms on a GPU.",
            inference.on_a_gpu,
        ),
        PaperTable(
            "frontier",
            "Quality over time, on one core",
            "Not in the paper, which compares with heuristics that have no budget.",
            frontier.frontier,
            frontier.draw,
        ),
        PaperTable(
            "families", "By scenario family, and two families left out", "Not in the paper.", generalisation.families
        ),
        PaperTable("sizes", "From 8 to 64 nodes", "Not in the paper, which has 16 and 32.", generalisation.sizes),
        PaperTable("radios", "Other radios", "Not in the paper.", generalisation.radios),
        PaperTable("noise", "Noise on positions", "Not in the paper.", generalisation.noise),
        PaperTable(
            "flights",
            "Fleets in flight",
            "Not in the paper, which updates once. Chains of updates, each from the one before; T as a share of what a "
            "search finds at every moment, and what is delivered with so many seconds until a new link carries "
            "anything, as a share of the same.",
            flights.flights,
            flights.draw,
        ),
        PaperTable(
            "agreement",
            "Where we agree with the paper, where we do not, and why",
            "The paper's tables, row by row. A claim agrees where the difference goes its way with 95 % confidence, is "
            "opposite where it goes the other way, and level where our layouts and seeds show none.",
            agreement.agreement,
        ),
    )
}
