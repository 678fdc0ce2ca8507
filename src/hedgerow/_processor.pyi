"""Which builds of the engine this processor runs."""

kinds: str
