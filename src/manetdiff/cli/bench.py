"""placeholder"""


def command() -> None:
    raise NotImplementedError
