"""A strategy that uses all of gatewayd_plugin: it plans, observes and routes."""

import gatewayd_plugin
import strategy_pb2 as pb


class Strategy:
    def __init__(self, options, seed):
        for name in options:
            raise ValueError(f"there is no option {name}")
        self.finished = 0

    def info(self):
        return pb.Info(name="planner", version="1", routes=True, plans=True, rates=True, observes=[pb.EVENT_KIND_FINISHED])

    def observe(self, events):
        self.finished += len(events)

    def route(self, task, workers):
        if self.finished % 2:  # as told by events, in their order
            return pb.Decision()
        return pb.Decision(verdict=pb.VERDICT_ROUTE, workers=[min(range(len(workers)), key=lambda i: workers[i].id)])

    def plan(self, given):
        plan = pb.Plan(workers=[pb.WorkerRef(id=w.id, incarnation=w.incarnation) for w in given.workers])
        by_id = sorted(range(len(given.workers)), key=lambda i: given.workers[i].id)
        table = {}
        for key, rate in zip(given.keys, given.rates):
            if by_id and (rate > 1 or key in given.previous):
                table[key] = by_id[:2]
        return plan, table


if __name__ == "__main__":
    gatewayd_plugin.serve(gatewayd_plugin.Definition("planner", "1", "Plans, observes and routes.", Strategy))
