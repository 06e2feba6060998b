"""The paper's figures, as it prints them; shares of 1 where it prints percent."""

from __future__ import annotations

Figures = dict[str, float]

# Table 'Evaluation of key properties of the generated graphs'.
PROPERTIES: dict[str, Figures] = {
    "GraphVAE": {"links": 75.90, "mean_length": 1.51, "link_throughput": 0.48, "antenna_saturation": 0.900},
    "GT-VAE": {"links": 28.10, "mean_length": 1.17, "link_throughput": 2.06, "antenna_saturation": 0.314},
    "DDPM-GT": {"links": 23.72, "mean_length": 1.05, "link_throughput": 3.18, "antenna_saturation": 0.176},
    "DDPM-GT with features": {
        "links": 22.96,
        "mean_length": 0.99,
        "link_throughput": 3.35,
        "antenna_saturation": 0.136,
    },
    "NetDiff (CAM)": {"links": 23.08, "mean_length": 0.97, "link_throughput": 3.40, "antenna_saturation": 0.129},
    "NetDiff (ACAM)": {"links": 22.42, "mean_length": 0.94, "link_throughput": 3.52, "antenna_saturation": 0.121},
    "target": {"links": 21.95, "mean_length": 0.85, "link_throughput": 3.62, "antenna_saturation": 0.097},
}
# Table 'Avg. instantaneous throughput upper bound', by fleet size.
THROUGHPUT: dict[int, dict[str, float]] = {
    16: {"omni": 47.24, "Huang": 52.89, "MST+greedy": 63.46, "DDPM-GT": 75.43, "NetDiff": 78.92, "target": 79.33},
    32: {"omni": 71.63, "Huang": 153.54, "MST+greedy": 204.78, "DDPM-GT": 258.90, "NetDiff": 322.40, "target": 340.52},
}
# Table 'Constraint satisfaction for different diffusion graph transformer variants'.
CONSTRAINTS: dict[str, Figures] = {
    "DDPM-GT with features": {"connected": 0.9850, "node_saturation": 0.1162, "parity": 0.9859},
    "NetDiff (CAM)": {"connected": 0.9868, "node_saturation": 0.0798, "parity": 0.9863},
    "NetDiff (ACAM)": {"connected": 0.9868, "node_saturation": 0.0705, "parity": 0.9864},
}
# Table 'Constraint satisfaction using our loss function compared to standard BCE'.
LOSSES: dict[str, Figures] = {
    "cross-entropy alone": {"node_saturation": 0.1590, "parity": 0.6223},
    "with the penalties": {"node_saturation": 0.0705, "parity": 0.9864},
}
# In the text: 16 tokens instead of 1 reduce saturation by about 0.8 points.
TOKENS_GAIN = 0.008
# Tables of the appendix on 32 nodes.
THIRTY_TWO: dict[str, Figures] = {
    "NetDiff (60/40 mix)": {
        "links": 54.64,
        "mean_length": 0.77,
        "link_throughput": 5.90,
        "antenna_saturation": 0.1440,
        "node_saturation": 0.1408,
        "connected": 0.9878,
        "parity": 0.9718,
    },
    "target": {"links": 48.22, "mean_length": 0.70, "link_throughput": 6.26, "antenna_saturation": 0.0991},
}
# Tables on partial diffusion.
PARTIAL: dict[str, Figures] = {
    "standard": {
        "links": 22.79,
        "mean_length": 0.98,
        "link_throughput": 3.45,
        "antenna_saturation": 0.1320,
        "continuity": 0.3322,
        "connected": 0.9883,
        "node_saturation": 0.0790,
        "parity": 0.9853,
    },
    "minor": {
        "links": 22.40,
        "mean_length": 0.92,
        "link_throughput": 3.54,
        "antenna_saturation": 0.1279,
        "continuity": 0.3874,
        "connected": 0.9887,
        "node_saturation": 0.0712,
        "parity": 0.9866,
    },
}
# In the text: more similar to the previous topology than when generated anew; and how many times faster.
CONTINUITY_GAIN = {"standard": 0.21, "minor": 0.41}
# In the text, milliseconds of a full diffusion pass; CPU: 'under 2 s' on a Xeon E5-2650v3; GPU: a Tesla T4.
FULL_PASS_MS = {"CPU": 2_000.0, "GPU": 450.0}
CORRECTION_MS = 100.0  # 'never more than'
