"""Generate and update topologies from packaged weights, on ONNX Runtime: no PyTorch needed."""
