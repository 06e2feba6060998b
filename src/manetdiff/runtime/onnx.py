"""ONNX Runtime, loaded so that nothing leaves the machine."""

from __future__ import annotations

import os
from typing import Any

# Read when ONNX Runtime is loaded: without it, that writes an identifier of the device under the user's cache folder,
# and looks up its maker's host. Who wants it otherwise may set it so.
NO_TELEMETRY = "ORT_DISABLE_TELEMETRY"


def onnx_runtime() -> Any:
    """The module. It is imported here and nowhere else, when it is first needed: it takes a while to load."""
    os.environ.setdefault(NO_TELEMETRY, "1")
    import onnxruntime

    return onnxruntime
