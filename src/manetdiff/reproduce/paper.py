"""The paper's figures, as it prints them; shares of 1 where it prints percent."""

from __future__ import annotations

Figures = dict[str, float]
Row = tuple[float, ...]


def _table(metrics: str, rows: dict[str, Row]) -> dict[str, Figures]:
    """Rows as printed; a shorter one has the first columns alone."""
    return {label: dict(zip(metrics.split(), row, strict=False)) for label, row in rows.items()}


# Table 'Evaluation of key properties of the generated graphs'.
SHAPE = "links mean_length link_throughput antenna_saturation"
PROPERTIES = _table(
    SHAPE,
    {
        "GraphVAE": (75.90, 1.51, 0.48, 0.900),
        "GT-VAE": (28.10, 1.17, 2.06, 0.314),
        "DDPM-GT": (23.72, 1.05, 3.18, 0.176),
        "DDPM-GT with features": (22.96, 0.99, 3.35, 0.136),
        "NetDiff (CAM)": (23.08, 0.97, 3.40, 0.129),
        "NetDiff (ACAM)": (22.42, 0.94, 3.52, 0.121),
        "target": (21.95, 0.85, 3.62, 0.097),
    },
)
# Table 'Avg. instantaneous throughput upper bound', by fleet size.
THROUGHPUT: dict[int, dict[str, float]] = {
    16: {"omni": 47.24, "Huang": 52.89, "MST+greedy": 63.46, "DDPM-GT": 75.43, "NetDiff": 78.92, "target": 79.33},
    32: {"omni": 71.63, "Huang": 153.54, "MST+greedy": 204.78, "DDPM-GT": 258.90, "NetDiff": 322.40, "target": 340.52},
}
# Table 'Constraint satisfaction for different diffusion graph transformer variants'.
CONSTRAINTS = _table(
    "connected node_saturation parity",
    {
        "DDPM-GT with features": (0.9850, 0.1162, 0.9859),
        "NetDiff (CAM)": (0.9868, 0.0798, 0.9863),
        "NetDiff (ACAM)": (0.9868, 0.0705, 0.9864),
    },
)
# Table 'Constraint satisfaction using our loss function compared to standard BCE'.
LOSSES = _table(
    "node_saturation parity", {"cross-entropy alone": (0.1590, 0.6223), "with the penalties": (0.0705, 0.9864)}
)
# In the text: 16 tokens instead of 1 reduce saturation by about 0.8 points.
TOKENS_GAIN = 0.008
# Tables of the appendix on 32 nodes.
THIRTY_TWO = _table(
    f"{SHAPE} connected node_saturation parity",
    {
        "NetDiff (60/40 mix)": (54.64, 0.77, 5.90, 0.1440, 0.9878, 0.1408, 0.9718),
        "target": (48.22, 0.70, 6.26, 0.0991),
    },
)
# Tables on partial diffusion.
PARTIAL = _table(
    f"{SHAPE} continuity connected node_saturation parity",
    {
        "standard": (22.79, 0.98, 3.45, 0.1320, 0.3322, 0.9883, 0.0790, 0.9853),
        "minor": (22.40, 0.92, 3.54, 0.1279, 0.3874, 0.9887, 0.0712, 0.9866),
    },
)
# In the text: more similar to the previous topology than when generated anew; and how many times faster.
CONTINUITY_GAIN = {"standard": 0.21, "minor": 0.41}
# In the text, milliseconds of a full diffusion pass; CPU: 'under 2 s' on a Xeon E5-2650v3; GPU: a Tesla T4.
FULL_PASS_MS = {"CPU": 2_000.0, "GPU": 450.0}
CORRECTION_MS = 100.0  # 'never more than'
