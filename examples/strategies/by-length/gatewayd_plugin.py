"""The plugin's side of gatewayd's strategy protocol, version 1.

serve(Definition(...)) is all that a strategy's main calls. A strategy has a method
info() and, as its info says, one or more of

    route(task: RouteTask, workers: list[Worker]) -> Decision
    plan(input: PlanInput) -> (Plan, {key: [index of a worker of the plan, ...]})
    observe(events: list[Event])

with the messages of strategy_pb2. route and observe are called one after the
other, plan beside them. None may change or keep what it is given. Print to
standard error; what is printed reaches the gateway's log.
"""

import concurrent.futures
import dataclasses
import json
import os
import signal
import sys
import tempfile
import threading
import time
import traceback

import grpc

import strategy_pb2 as pb

PROTOCOL, FEATURES = 1, 2
MAX_MESSAGE = 64 << 20
MAX_INSTANCES = 32  # each has a thread for its lane
ANSWER_WITHIN = 0.002  # seconds that a finished answer waits for its batch
TABLE_ROWS = 50_000  # keys in one message


@dataclasses.dataclass
class Definition:
    """Names and makes a strategy. open(options, seed) raises ValueError, with the
    option's name, for options that are unknown or out of range."""

    name: str
    version: str
    summary: str
    open: object
    options: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class PlanInput:
    """What a plan is made of: the header, the fleet, rates of keys as arrays of the
    same length, and the previous plan's table."""

    header: pb.PlanInput
    workers: list = dataclasses.field(default_factory=list)
    keys: list = dataclasses.field(default_factory=list)
    rates: list = dataclasses.field(default_factory=list)
    tokens: list = dataclasses.field(default_factory=list)
    homes: list = dataclasses.field(default_factory=list)
    previous: dict = dataclasses.field(default_factory=dict)


class Failure(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.error = pb.Error(code=code, message=message)


class Instance:
    def __init__(self, strategy):
        self.strategy = strategy
        self.lane, self.planning = threading.Lock(), threading.Lock()


class Lane:
    """One instance's table of workers, and its tasks in their order."""

    def __init__(self, strategy):
        self.strategy, self.workers, self.writes = strategy, [], 0

    def work(self, task):
        """Works off one task; returns the answer of a route, else None."""
        if task.HasField("route"):
            return self.route(task.route)
        if task.HasField("table"):
            self.write(task.table)
        elif task.HasField("observe") and hasattr(self.strategy, "observe"):
            self.strategy.observe(list(task.observe.events))
        return None

    def write(self, table):
        self.writes += 1
        if table.number != self.writes:
            raise Failure(pb.CODE_INVALID, f"write {table.number} to the table of workers where write {self.writes} is due")
        if table.clear:
            self.workers.clear()
        for slot in table.slots:
            if slot.slot < len(self.workers):
                self.workers[slot.slot] = slot.worker
            else:
                self.workers.append(slot.worker)

    def route(self, task):
        answer = pb.Answer(id=task.id)
        try:
            answer.decision.CopyFrom(self.strategy.route(task, self.eligible(task)))
        except Exception as e:  # the author's: the gateway goes on without it
            report(e)
            answer.error.CopyFrom(pb.Error(code=pb.CODE_STRATEGY, message=f"{type(e).__name__}: {e}"))
        return answer

    def eligible(self, task):
        for change in task.loads:
            load = self.workers[change.slot].load
            load.in_flight, load.queued_tokens = change.in_flight, change.queued_tokens
            load.working_set = change.working_set
            if change.HasField("gauges"):
                load.gauges.CopyFrom(change.gauges)
        shown = [self.workers[slot] for slot in task.eligible] or list(self.workers)
        ages = list(task.peers_age) or [0]
        for i, worker in enumerate(shown):
            worker.load.peers_age = ages[i] if len(ages) > 1 else ages[0]
        return shown


class Service:
    """Every method of the protocol's service, by its name there."""

    def __init__(self, definitions):
        self.definitions = {d.name: d for d in definitions}
        self.instances, self.last, self.lock = {}, 0, threading.Lock()

    def Describe(self, request, context):
        return pb.DescribeResponse(protocol=PROTOCOL, feature_version=FEATURES, definitions=[
            pb.Definition(name=d.name, version=d.version, summary=d.summary, options=d.options)
            for d in self.definitions.values()])

    def Open(self, request, context):
        try:
            if request.strategy not in self.definitions:
                raise Failure(pb.CODE_UNKNOWN_STRATEGY, f"strategy {request.strategy!r} is not served here")
            strategy = self.definitions[request.strategy].open(dict(request.options), request.seed)
            with self.lock:
                if len(self.instances) == MAX_INSTANCES:
                    raise Failure(pb.CODE_BUSY, f"{MAX_INSTANCES} instances are open; close some")
                self.last += 1
                self.instances[self.last] = Instance(strategy)
                return pb.OpenResponse(instance=self.last, info=strategy.info())
        except ValueError as e:
            return pb.OpenResponse(error=pb.Error(code=pb.CODE_OPTION, message=str(e)))
        except Failure as e:
            return pb.OpenResponse(error=e.error)
        except Exception as e:
            report(e)
            return pb.OpenResponse(error=pb.Error(code=pb.CODE_STRATEGY, message=str(e)))

    def Close(self, request, context):
        with self.lock:
            self.instances.pop(request.instance, None)
        return pb.CloseResponse()

    def find(self, number):
        with self.lock:
            if number not in self.instances:
                raise Failure(pb.CODE_UNKNOWN_INSTANCE, f"no open instance has number {number}")
            return self.instances[number]

    def Lane(self, requests, context):
        first = next(requests, None)
        if first is None:
            return
        try:
            instance = self.find(first.instance)
            if not instance.lane.acquire(blocking=False):
                raise Failure(pb.CODE_BUSY, f"instance {first.instance} has a lane already")
        except Failure as e:
            yield pb.LaneResponse(error=e.error)
            return
        try:
            yield pb.LaneResponse()  # it is open
            lane = Lane(instance.strategy)
            yield from answers(lane, first.tasks)
            for request in requests:
                yield from answers(lane, request.tasks)
        except Failure as e:
            yield pb.LaneResponse(error=e.error)
        finally:
            instance.lane.release()

    def Plan(self, requests, context):
        try:
            header = next(requests).input
            instance = self.find(header.instance)
            if not hasattr(instance.strategy, "plan"):
                raise Failure(pb.CODE_UNSUPPORTED, "the strategy does not plan")
            if not instance.planning.acquire(blocking=False):
                raise Failure(pb.CODE_BUSY, "the last plan is still being computed")
            try:
                plan, table = instance.strategy.plan(read_plan_input(header, requests))
            finally:
                instance.planning.release()
            yield pb.PlanResponse(plan=plan)
            yield from rows(table)
        except Failure as e:
            yield pb.PlanResponse(error=e.error)
        except Exception as e:
            report(e)
            yield pb.PlanResponse(error=pb.Error(code=pb.CODE_STRATEGY, message=f"{type(e).__name__}: {e}"))


def answers(lane, tasks):
    """Yields the answers to a message's tasks, in few messages but not late."""
    out, since = [], time.monotonic()
    for task in tasks:
        answer = lane.work(task)
        if answer is not None:
            out.append(answer)
        if out and time.monotonic() - since > ANSWER_WITHIN:
            yield pb.LaneResponse(answers=out)
            out, since = [], time.monotonic()
    if out:
        yield pb.LaneResponse(answers=out)


def read_plan_input(header, requests):
    plan = PlanInput(header)
    for part in requests:
        if part.HasField("fleet"):
            plan.workers.extend(part.fleet.workers)
        elif part.HasField("rates"):
            n = len(part.rates.keys)
            plan.keys.extend(part.rates.keys)
            plan.rates.extend(part.rates.rates)
            plan.tokens.extend(part.rates.tokens or [0.0] * n)
            plan.homes.extend(part.rates.homes or [0] * n)
        elif part.HasField("previous"):
            at = 0
            for key, count in zip(part.previous.keys, part.previous.counts):
                plan.previous[key] = list(part.previous.members[at : at + count])
                at += count
    return plan


def rows(table):
    keys = list(table)
    for i in range(0, len(keys), TABLE_ROWS):
        part = pb.PlanTable(keys=keys[i : i + TABLE_ROWS])
        for key in part.keys:
            part.counts.append(len(table[key]))
            part.members.extend(table[key])
        yield pb.PlanResponse(table=part)


def report(e):
    """Logs an exception in the form that gateways read levels from."""
    text = "".join(traceback.format_exception(e))
    print(json.dumps({"@level": "error", "@message": text}), file=sys.stderr, flush=True)


def handler(service):
    """Has the service's methods called, as the protocol describes them."""
    described = pb.DESCRIPTOR.services_by_name["Strategy"]
    methods = {}
    for m in described.methods:
        make = grpc.stream_stream_rpc_method_handler if m.client_streaming else grpc.unary_unary_rpc_method_handler
        methods[m.name] = make(getattr(service, m.name),
                               request_deserializer=getattr(pb, m.input_type.name).FromString,
                               response_serializer=getattr(pb, m.output_type.name).SerializeToString)
    return grpc.method_handlers_generic_handler(described.full_name, methods)


def serve(*definitions):
    """Serves the strategies until the host is done with this process, or gone."""
    if os.environ.get("GATEWAYD_PLUGIN") != "strategy":
        sys.exit("this program serves routing strategies to gatewayd, which starts it; give it the path")
    for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(s, signal.SIG_IGN)  # the host decides
    socket = os.path.join(os.environ.get("GATEWAYD_PLUGIN_DIR") or tempfile.mkdtemp(), "python.sock")
    server = grpc.server(
        concurrent.futures.ThreadPoolExecutor(max_workers=2 * MAX_INSTANCES + 4),
        options=[("grpc.max_receive_message_length", MAX_MESSAGE), ("grpc.max_send_message_length", MAX_MESSAGE)])
    server.add_generic_rpc_handlers((handler(Service(definitions)),))
    server.add_insecure_port("unix:" + socket)
    server.start()
    print(f"1|{PROTOCOL}|unix|{socket}|grpc", flush=True)
    sys.stdout = sys.stderr  # the line above is all that belongs there
    sys.stdin.buffer.read()  # ends when the host closes it, or dies
    server.stop(grace=0)
    for remove, path in ((os.remove, socket), (os.rmdir, os.path.dirname(socket))):
        try:
            remove(path)
        except OSError:
            pass  # the host was quicker
    os._exit(0)
