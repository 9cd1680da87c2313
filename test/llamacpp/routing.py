"""Compare what sessions wait for their first token behind gateways with different strategies.

    python3 routing.py NAME=URL...   round-robin, and those that must beat it

All gateways stand before the same two workers, each of which can keep the prompts of
more than half of the sessions (worker.py) and not of all. Exit status 1 unless every
mean is at most the FACTOR-th part of round-robin's, in the median of the rounds.
"""

import statistics
import sys

from client import WORKER_HEADER, Server, require

FACTOR = 2
ROUNDS = 3  # in turns, so that all gateways meet the same machine
SESSIONS = 9  # an odd number, else round-robin keeps each on its worker
TURNS = 8
PROMPT = 2400  # characters, which are tokens of the model
BASELINE = "round-robin"


def converse(s, name):
    """All sessions turn by turn; the seconds to each first token, and the tokens that were cached of all."""
    talks, homes = {}, {}
    waits, cached, prompts = [], 0, 0
    for turn in range(TURNS):
        for i in range(SESSIONS):
            session = f"{name}-{i}"
            start = f"{session} begins like no other. " * (PROMPT // 30)
            messages = talks.setdefault(session, [{"role": "system", "content": start}])
            messages.append({"role": "user", "content": f"Turn {turn}."})
            reply = s.chat(messages, session=session, tokens=8, stream=True, stream_options={"include_usage": True})
            chunks = reply.events()
            text = "".join(c["choices"][0]["delta"].get("content") or "" for c in chunks if c["choices"])
            messages.append({"role": "assistant", "content": text})
            require(reply.first_s is not None, "an answer without text")
            waits.append(reply.first_s)
            usage = chunks[-1]["usage"]
            cached += usage["prompt_tokens_details"]["cached_tokens"]
            prompts += usage["prompt_tokens"]
            homes.setdefault(session, set()).add(reply.headers[WORKER_HEADER])
    return waits, cached, prompts, sum(len(w) == 1 for w in homes.values())


def main(gateways):
    waits, cached, prompts, stay = ({name: [] for name in gateways} for _ in range(4))
    for round_ in range(ROUNDS):
        for name, url in gateways.items():
            w, c, p, n = converse(Server(url, gateway=True), f"{name} {round_}")
            waits[name].append(w)
            cached[name].append(c)
            prompts[name].append(p)
            stay[name].append(n)
    means = {name: [statistics.mean(w) for w in rounds] for name, rounds in waits.items()}
    faster = {name: statistics.median(a / b for a, b in zip(means[BASELINE], means[name])) for name in gateways}
    print(f"{'strategy':<14}{'requests':>9}{'first token, ms: mean':>23}{'median':>8}{'max':>8}{'cached':>8}{'sessions that stay':>20}{'faster':>8}")
    for name, rounds in waits.items():
        w = sum(rounds, [])
        share, stays = sum(cached[name]) / sum(prompts[name]), f"{sum(stay[name])}/{ROUNDS * SESSIONS}"
        print(f"{name:<14}{len(w):>9}{statistics.mean(w) * 1e3:>23.1f}{statistics.median(w) * 1e3:>8.1f}{max(w) * 1e3:>8.1f}"
              f"{share:>8.1%}{stays:>20}{faster[name]:>7.2f}x")
    lost = [name for name in gateways if name != BASELINE and faster[name] < FACTOR]
    if lost:
        print(f"not {FACTOR} times as fast as {BASELINE}: {', '.join(lost)}")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main(dict(argument.split("=", 1) for argument in sys.argv[1:])))
