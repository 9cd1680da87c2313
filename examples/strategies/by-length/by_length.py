"""Long prompts to one part of the fleet, short ones to the other, if it has room.

A long prompt occupies a worker for as long as many short ones; kept apart, short
ones do not wait behind it. A worker of the other part is taken when it has fewer
requests in flight, by at least "spill". Which workers are which follows from their names
alone, so that all gateways agree, and a worker that joins moves few others.
"""

import hashlib

import gatewayd_plugin
import strategy_pb2 as pb

NAME, VERSION = "by-length", "1.0.0"


class Strategy:
    """Needs no locks: calls come one after the other."""

    def __init__(self, options, seed):
        self.long = number(options, "long", 8000, 0, 2**30)
        self.share = number(options, "share", 0.5, 0, 1)
        self.spill = number(options, "spill", 2, 0, 2**30)
        for name in options.keys() - {"long", "share", "spill"}:
            raise ValueError(f"there is no option {name}, but long, share and spill")

    def info(self):
        return pb.Info(name=NAME, version=VERSION, routes=True)

    def route(self, task, workers):
        """Ranks all workers: the least loaded first, the right part preferred."""
        long = task.request.prompt_tokens >= self.long

        def cost(i):
            w = workers[i]
            other_part = (place(w.id) < self.share) != long
            return (w.load.in_flight + self.spill * other_part, w.load.queued_tokens, place(f"{task.seed} {w.id}"))

        ranking = sorted(range(len(workers)), key=cost)
        return pb.Decision(verdict=pb.VERDICT_ROUTE, workers=ranking, reason="long" if long else "short")


def number(options, name, default, least, most):
    """The option as a number, or an error that names it."""
    text = options.get(name, default)
    try:
        value = float(text)
    except ValueError:
        value = None
    if value is None or not least <= value <= most:
        raise ValueError(f"{name}={text} must be a number from {least} to {most}")
    return value


def place(text):
    """A number from 0 to 1 that follows from a text, in every process the same."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") / 2**64


DEFINITION = gatewayd_plugin.Definition(
    name=NAME,
    version=VERSION,
    summary="Long prompts to one part of the fleet, short ones to the other, if it has room.",
    options=[
        pb.Option(name="long", default="8000", help="prompt tokens from which a prompt is long"),
        pb.Option(name="share", default="0.5", help="share of the workers that take long prompts, 0 to 1"),
        pb.Option(name="spill", default="2", help="requests in flight by which the other part must be less busy"),
    ],
    open=Strategy,
)

if __name__ == "__main__":
    gatewayd_plugin.serve(DEFINITION)
