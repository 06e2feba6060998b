"""What the paper claims, table by table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from manetdiff.measure.measures import MEASURES
from manetdiff.measure.rows import targets
from manetdiff.reproduce import paper
from manetdiff.reproduce.agreement.verdict import Comparison, at_least, at_most, higher, lower, nearer, not_below
from manetdiff.reproduce.inference import CORRECTION, FULL, inference_times
from manetdiff.reproduce.networks import NETWORKS, PLAIN_SAMPLING, SEEDS, Network, raw_samples, samples_of
from manetdiff.reproduce.partial import CASES, partial_rows, step_rows
from manetdiff.reproduce.tables import Setting
from manetdiff.reproduce.throughput import throughput_rows

# What is better when there is more of it; of everything else there should be less.
MORE_IS_BETTER = ("connected", "parity", "valid", "throughput", "ratio")
# As near to what generating anew gives as a reader would call the same.
SAME_POINTS = 0.01


def properties(setting: Setting) -> Iterator[Comparison]:
    """Every row of the table against the one above it, wherever the paper's own figures come nearer to the target."""
    layouts = setting.layouts(16)
    made = {label: samples_of(setting, network, layouts) for label, network in NETWORKS.items()}
    target = targets(layouts)
    aims = paper.PROPERTIES["target"]
    for above, below in pairwise(NETWORKS):
        for metric, aim in aims.items():
            one, other = paper.PROPERTIES[below][metric], paper.PROPERTIES[above][metric]
            if abs(one - aim) < abs(other - aim):
                claim = f"{MEASURES[metric].label}: {below} nearer to the target than {above}"
                yield nearer(claim, metric, made[below], made[above], target, (one, other, aim))


def throughput(setting: Setting) -> Iterator[Comparison]:
    """The order of the methods, and NetDiff's share of the target."""
    for nodes in (16, 32):
        made, figures = throughput_rows(setting, nodes), paper.THROUGHPUT[nodes]
        for worse, better in pairwise(figures):
            claim = f"{nodes} nodes: {better} above {worse}"
            yield higher(claim, "throughput", made[better], made[worse], (figures[better], figures[worse]))
        share = figures["NetDiff"] / figures["target"]
        claim = f"{nodes} nodes: NetDiff has as large a share of the target"
        yield at_least(claim, "ratio", made["NetDiff"], share, f"{100 * share:.2f} %")


def constraints(setting: Setting) -> Iterator[Comparison]:
    """CAM against the statistics, ACAM against CAM, wherever the paper's figures differ."""
    layouts = setting.layouts(16)
    for above, below in pairwise(paper.CONSTRAINTS):
        one, other = (samples_of(setting, NETWORKS[label], layouts) for label in (below, above))
        for metric in paper.CONSTRAINTS[above]:
            figures = paper.CONSTRAINTS[below][metric], paper.CONSTRAINTS[above][metric]
            if figures[0] != figures[1]:
                better = higher if metric in MORE_IS_BETTER else lower
                yield better(f"{MEASURES[metric].label}: {below} better than {above}", metric, one, other, figures)


def losses(setting: Setting) -> Iterator[Comparison]:
    """The penalties against cross-entropy alone, as we sample and as the paper does."""
    layouts = setting.layouts(16)
    alone, penalties = paper.LOSSES["cross-entropy alone"], paper.LOSSES["with the penalties"]
    for how, sampling in (("", {}), (", sampled as in the paper", PLAIN_SAMPLING)):
        one, other = (raw_samples(setting, name, layouts, **sampling) for name in ("acam-123", "cross-entropy-123"))
        saturated = penalties["node_saturation"], alone["node_saturation"]
        yield lower(f"fewer saturated nodes with the penalties{how}", "node_saturation", one, other, saturated)
        yield higher(f"parity with the penalties{how}", "parity", one, other, (penalties["parity"], alone["parity"]))


def tokens(setting: Setting) -> Iterator[Comparison]:
    """Sixteen tokens against one: the paper gives the difference alone."""
    layouts = setting.layouts(16)
    one, other = (raw_samples(setting, name, layouts) for name in ("acam-123", "one-token-123"))
    said = f"{100 * paper.TOKENS_GAIN:.1f} points less"
    for metric in ("antenna_saturation", "node_saturation"):
        yield lower(f"{MEASURES[metric].label}: 16 tokens below 1", metric, one, other, said)


def modulation(setting: Setting) -> Iterator[Comparison]:
    """ACAM against statistics. The paper says that it is the clearer the larger the network."""
    layouts = setting.layouts(16)
    figures = tuple(
        paper.CONSTRAINTS[label]["node_saturation"] for label in ("NetDiff (ACAM)", "DDPM-GT with features")
    )
    for label, ending, sampling in (
        ("as trained here", "", {}),
        ("sampled as in the paper", "", PLAIN_SAMPLING),
        ("after a sixth of the training", "-brief", {}),
        ("without features", "-plain", {}),
        ("larger networks", "-wide", {}),
    ):
        one, other = (
            samples_of(setting, Network(f"{variant}{ending}", SEEDS), layouts, **sampling)
            for variant in ("acam", "ddpm-gt")
        )
        claim = f"{label}: ACAM saturates fewer nodes than statistics"
        yield lower(claim, "node_saturation", one, other, (figures[0], figures[1]))


def thirty_two(setting: Setting) -> Iterator[Comparison]:
    """The mixed training at 32 nodes against 16 nodes alone, and against itself at 16."""
    layouts = setting.layouts(32)
    mixed, alone = (raw_samples(setting, name, layouts) for name in ("acam-mixed-123", "acam-123"))
    for metric in ("ratio", "connected", "parity"):
        claim = f"{MEASURES[metric].label}: the mix above 16 nodes alone, at 32"
        yield higher(claim, metric, mixed, alone, "in words")
    figures = paper.THIRTY_TWO["NetDiff (60/40 mix)"]
    for metric in ("connected", "parity"):
        claim = f"{MEASURES[metric].label} at 32 nodes at least as high"
        yield at_least(claim, metric, mixed, figures[metric], f"{100 * figures[metric]:.2f} %")
    claim, figure = f"{MEASURES['node_saturation'].label} at 32 nodes at least as few", figures["node_saturation"]
    yield at_most(claim, "node_saturation", mixed, figure, f"{100 * figure:.2f} %")


def partial(setting: Setting) -> Iterator[Comparison]:
    """More continuity than anew, about the same constraints, and the steps that are enough."""
    for mode, movement, steps in CASES:
        made = partial_rows(setting, mode, movement, steps)
        said = f"{100 * paper.CONTINUITY_GAIN[mode]:.0f} % more"
        gain = higher(f"{mode}: more links kept than anew", "continuity", made["raw"], made["anew"], said)
        share = made["raw"].mean("continuity") / made["anew"].mean("continuity") - 1
        yield replace(gain, ours=f"{100 * share:.0f} % more ({gain.ours})")
        for metric in ("connected", "parity"):
            claim = f"{mode}: {MEASURES[metric].label} within a point of anew"
            figure = f"{100 * paper.PARTIAL[mode][metric]:.2f} %"
            yield not_below(claim, metric, made["raw"], made["anew"], SAME_POINTS, figure)
    by_steps = step_rows(setting)
    for movement, said in ((0.3, "10 to 15 best"), (0.1, "7 to 10 best")):
        rows = by_steps[movement]
        yield higher(f"movement {movement:g}: 10 steps better than 3", "ratio", rows[10], rows[3], said)


def inference(setting: Setting) -> Iterator[Comparison]:
    """Times that the paper's machine kept."""
    times = inference_times(setting, 16)
    full, correction = paper.FULL_PASS_MS["CPU"], paper.CORRECTION_MS
    yield at_most("a full pass on a CPU, ms", "milliseconds", times[FULL], full, "under 2,000")
    yield at_most("the correction, ms", "milliseconds", times[CORRECTION], correction, "at most 100")


CLAIMS = {
    "properties": properties,
    "throughput": throughput,
    "constraints": constraints,
    "losses": losses,
    "tokens": tokens,
    "modulation": modulation,
    "thirty-two": thirty_two,
    "partial": partial,
    "inference": inference,
}
