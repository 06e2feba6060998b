"""The live controller: networks whose positions stream in and whose topologies stream out, over HTTP."""
