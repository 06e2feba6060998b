"""What a service does under load, when it is killed, and with real senders; `scripts/try_service.py` runs them."""
