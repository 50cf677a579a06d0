"""Random requests through the real binary, each compared with reference_policy.py.

The one idea: uniform numbers never meet a threshold, so the generator aims. It draws a policy, puts
every field at or one beside a place where some rule changes its mind, then aims again: at a band
of the hysteresis, or at a limit that only the reference's answer tells (lanes, bytes, overflow).
`reached` names what a request made happen; a rule that no request reaches fails the tests.

Run:                   TIDEGATE=/absolute/path/to/tidegate python3 test_policy_random.py
Without the binary:    python3 test_policy_random.py GeneratorCoverage
Other requests:        TIDEGATE_SEED=N
"""

from __future__ import annotations

import functools
import math
import random
import sys
import unittest
from collections import Counter
from collections.abc import Iterator
from typing import Any

import reference_policy as reference
from reference_policy import FULL_BPS, POLICY, REQUEST, SIZING, TOPOLOGIES, U16, U32, U64
from support import SEED, Case, Document, check_stream, run_stream

REQUESTS = 20_000  # fewer would leave the rarest rules to chance
SMALL_INPUTS = 3_000
BAND = reference.HYSTERESIS_BPS
THRESHOLDS = ("sparse_frontier_threshold_bps", "dense_frontier_threshold_bps",
              "memory_pressure_threshold_bps")


def beside(rng: random.Random, largest: int, *marks: int) -> int:
    """One of the marks or a neighbour of it, moved into 0..largest."""
    return reference.clamp(rng.choice(marks) + rng.choice((-1, 0, 0, 1)), 0, largest)


def number(rng: random.Random, largest: int, *marks: int) -> int:
    """Mostly beside a mark, else an end of the range, small, or of any magnitude."""
    kind = rng.random()
    if marks and kind < 0.7:
        return beside(rng, largest, *marks)
    if kind < 0.76:
        return beside(rng, largest, 0, largest)
    if kind < 0.85:
        return rng.randint(0, min(largest, 300))
    return rng.randint(0, min(largest, 2 ** rng.randint(1, 64) - 1))


# The generator.

def random_policy(rng: random.Random) -> Document:
    """Overrides of the standard policy: none, a few fields, or all of them."""
    share = rng.choice((0.0, 0.0, 0.1, 0.3, 1.0))
    policy = {name: number(rng, largest, standard, standard, standard, 0, 1)
              for name, (largest, standard) in POLICY.items() if rng.random() < share}
    for name, mark in zip(THRESHOLDS, (3999, 9999, FULL_BPS)):
        if name in policy and rng.random() < 0.6:
            policy[name] = beside(rng, U16, 0, BAND, mark, POLICY[name][1], U16)
    if rng.random() < share:
        at_least_one = ("occupancy_worker_divisor", "max_dispatch_workgroups")
        policy["sizing"] = {name: max(number(rng, U32, standard, standard, 1, 2),
                                      1 if name in at_least_one else 0)
                            for name, standard in SIZING.items() if rng.random() < 0.6}
    return policy


def random_signals(rng: random.Random, policy: Document, queue_len: int) -> Document:
    """Density and pressure beside their thresholds and bands, measured or to be inferred."""
    sparse, dense, memory = (policy[name] for name in THRESHOLDS)
    density = number(rng, U16, sparse, sparse - BAND, sparse + BAND, dense, dense, dense - BAND,
                     dense + BAND, (sparse + dense) // 2, 0, FULL_BPS)
    pressure = beside(rng, U16, 0, 0, memory // 2, memory, memory - BAND, FULL_BPS) \
        if rng.random() < 0.6 else number(rng, U16)
    signals = {"frontier_density_bps": density, "memory_pressure_bps": pressure,
               "graph_node_count": number(rng, U32, 0, 1, queue_len, 100),
               "resident_device_bytes": number(rng, U64, 0, 1 << 30),
               "device_memory_budget_bytes": number(rng, U64, 0, 0, 1 << 34)}
    if rng.random() < 0.4 and density:  # let the sizes say it
        signals["frontier_density_bps"] = 0
        signals["graph_node_count"] = beside(rng, U32, queue_len * FULL_BPS // density)
    if rng.random() < 0.4 and pressure:
        budget = rng.choice((1 << 34, U64, rng.randint(1, U64)))
        resident = beside(rng, U64, budget * pressure // FULL_BPS)
        signals.update(memory_pressure_bps=0, device_memory_budget_bytes=budget,
                       resident_device_bytes=resident)
    return signals


def random_document(rng: random.Random) -> Document:
    """One input of `recommend`, before it is aimed a second time."""
    overrides = random_policy(rng)
    policy = reference.full_policy(overrides)
    sizing = policy["sizing"]
    queue_len = number(rng, U32, 0, 1, 300, 16384, policy["jit_queue_len_threshold"])
    workers = number(rng, U32, 0, 1, 2, 32, 64, 1000)
    document = {
        "queue_len": queue_len,
        "requested_worker_groups": workers,
        "max_workgroup_size_x": number(rng, U32, 1, 64, 256, 256, 1024),
        "max_compute_workgroups_per_dimension":
            number(rng, U32, workers, 64, 65535, sizing["occupancy_worker_divisor"] * 2,
                   sizing["occupancy_worker_divisor"] * sizing["max_dispatch_workgroups"]),
        "max_compute_invocations_per_workgroup":
            number(rng, U32, 256, sizing["powerful_invocation_threshold"]),
        "requested_hit_capacity": number(rng, U32, 0, 0, 0, 4096),
        "expected_hits_per_item": number(rng, U32, 0, 1, 1, 3),
        "hot_opcode_count": number(rng, U32, 0, 0, policy["hot_opcode_threshold"]),
        "hot_window_count": number(rng, U32, 0, 0, policy["hot_window_threshold"]),
        "requeue_count": number(rng, U64, 0, 0, 0, 0, 1),
        "max_priority_age": number(rng, U32, 0, policy["priority_age_threshold"]),
        "graph_edge_count": number(rng, U32, 0, policy["fusion_edge_threshold"]),
        **random_signals(rng, policy, queue_len),
    }
    leave_out = rng.choice((0.0, 0.1, 0.5))
    document = {name: value for name, value in document.items()
                if REQUEST[name][1] is None or rng.random() >= leave_out}
    if overrides or rng.random() < 0.1:
        document["policy"] = overrides
    if rng.random() < 0.6:
        document["previous_topology"] = rng.choice(TOPOLOGIES)
    return document


def parts(document: Document) -> tuple[Document, Document, str | None]:
    """(full request, full policy, previous topology) of a document."""
    request = reference.full_request(document)
    return request, reference.full_policy(document.get("policy")), document.get("previous_topology")


def aimed(rng: random.Random, document: Document) -> Document:
    """The document moved to a limit that only its own answer tells."""
    request, policy, previous = parts(document)
    made = reference.recommend({**request, "device_memory_budget_bytes": 0}, policy, previous)
    if "error" in made:
        return document
    groups, peak = made["ok"]["worker_groups"], made["ok"]["estimated_peak_device_bytes"]
    lanes = min(groups, policy["sizing"]["max_dispatch_workgroups"]) \
        * made["ok"]["geometry"]["workgroup_size_x"]
    hits = made["ok"]["hit_capacity"]
    per_expected = max(request["queue_len"] * policy["hit_capacity_multiplier"], 1)
    aims: list[Document] = [
        {"queue_len": beside(rng, U32, lanes, lanes * policy["saturated_waves"]),
         "requeue_count": 0},
        {"device_memory_budget_bytes": beside(rng, U64, peak),
         "memory_pressure_bps": max(request["memory_pressure_bps"], 1)},
        {"resident_device_bytes": beside(rng, U64, U64 - hits * policy["scratch_bytes_per_hit"])},
        {"requested_hit_capacity": 0, "expected_hits_per_item": beside(
            rng, U32, U32 // per_expected, policy["min_hit_capacity"] // per_expected)},
        {"graph_node_count": max(request["graph_node_count"], 1), "hot_window_count": U32,
         "graph_edge_count": beside(rng, U32, policy["fusion_edge_threshold"])},
        {"queue_len": beside(rng, U32, U32, U32 - groups), "requested_hit_capacity": 1},
    ]
    return {**document, **rng.choice(aims)}


def at_a_band(rng: random.Random, document: Document) -> Document:
    """The document with ordinary sizes, a previous topology and its signals at a band's edge."""
    policy = dict(document.get("policy", {}))
    if rng.random() < 0.4:  # bands that overlap, or stick out of the range
        edge = beside(rng, U16, 0, BAND, 500, U16 - BAND)
        policy[THRESHOLDS[0]] = edge
        policy[THRESHOLDS[1]] = beside(rng, U16, edge + BAND // 2, edge + BAND, edge + 2 * BAND)
    if rng.random() < 0.5:
        policy.pop(THRESHOLDS[2], None)
    _, full, _ = parts({**document, "policy": policy})
    sparse, dense, memory = (full[name] for name in THRESHOLDS)
    return {
        **document, "policy": policy, "queue_len": rng.randint(1, 1 << 16),
        "requested_worker_groups": rng.randint(1, 200), "max_workgroup_size_x": 256,
        "max_compute_workgroups_per_dimension": 65535, "expected_hits_per_item": 1,
        "max_compute_invocations_per_workgroup": 1024, "device_memory_budget_bytes": 0,
        "graph_node_count": rng.choice((0, 1, 1000, 1000)), "resident_device_bytes": 0,
        "graph_edge_count": beside(rng, U32, full["fusion_edge_threshold"], U32),
        "hot_window_count": beside(rng, U32, full["hot_window_threshold"], U32),
        "frontier_density_bps": beside(rng, U16, sparse, sparse - BAND, sparse + BAND, dense,
                                       dense - BAND, dense + BAND),
        "memory_pressure_bps": beside(rng, U16, 1, 1, 1, memory - BAND, memory),
        "previous_topology": rng.choice(TOPOLOGIES),
    }


# What the reference answers, and what that shows was reached.

def expected_line(document: Document) -> Document:
    request, policy, previous = parts(document)
    answer = reference.recommend(request, policy, previous)
    if "error" in answer:
        return answer
    topology, topology_complete = reference.topology_evidence(request, answer["ok"])
    promotion, promotion_complete = reference.promotion_evidence(request, policy, answer["ok"])
    return {"ok": {
        "kind": "launch_recommendation", "schema_version": 1, "recommendation": answer["ok"],
        "evidence": {"topology": topology, "promotion": promotion, "complete": {
            "topology": topology_complete, "promotion": promotion_complete}}}}


@functools.cache
def cases() -> tuple[Case, ...]:
    rng = random.Random(SEED)
    drawn = [random_document(rng) for _ in range(REQUESTS)]
    ready = [rng.choice((aimed, at_a_band, lambda _, document: document))(rng, document)
             for document in drawn]
    return tuple(Case(f"seed {SEED}, request {index}", document, expected_line(document))
                 for index, document in enumerate(ready))


def reached(case: Case) -> Iterator[str]:
    """Names of what this request made happen; WANTED lists those that must occur."""
    request, policy, previous = parts(case.document)
    if error := case.expect.get("error"):
        yield f"error {error['code']} {error.get('field', '')}".strip()
        return
    yield from (f"left out {name}" for name in REQUEST if name not in case.document)
    made, evidence = (case.expect["ok"][key] for key in ("recommendation", "evidence"))
    for key in ("topology", "pressure", "execution_mode", "promote_hot_opcodes",
                "promote_hot_windows", "age_priority_work"):
        yield f"{key} {made[key]}"
    yield f"route {evidence['promotion']['promotion_route']}"
    yield from (f"{key} complete {value}" for key, value in evidence["complete"].items())
    effective = reference.effective_request(request)
    yield from (f"inferred {name}" for name in request if effective[name] != request[name])
    raw = reference.raw_topology(effective, policy)
    if previous is not None:
        yield f"previous {previous}"
        yield f"held {raw} as {previous}" if raw != made["topology"] else "not held"
    asked = request["requested_worker_groups"]
    if reference.shed_workers(made["topology"], effective, policy) < asked:
        yield f"shed {made['topology']}"
    if asked == 0:
        yield "worker groups from the limits"
    derived = request["queue_len"] * max(request["expected_hits_per_item"], 1)
    if request["requested_hit_capacity"] == 0 and made["hit_capacity"] > policy["min_hit_capacity"]:
        yield "hits not multiplied" if made["hit_capacity"] == derived else "hits multiplied"
    if made["geometry"]["slot_count"] < request["queue_len"]:
        yield "padding saturated"


HELD = {"sparse_frontier": ("memory_constrained", "hybrid_frontier"),
        "hybrid_frontier": ("memory_constrained", "sparse_frontier", "dense_frontier",
                            "fused_dense"),
        "dense_frontier": ("memory_constrained", "sparse_frontier", "hybrid_frontier"),
        "fused_dense": ("memory_constrained", "sparse_frontier", "hybrid_frontier")}
WANTED = {
    *(f"topology {name}" for name in TOPOLOGIES), *(f"previous {name}" for name in TOPOLOGIES),
    *(f"pressure {name}" for name in ("empty", "light", "balanced", "saturated")),
    *(f"execution_mode {name}" for name in ("interpreter", "jit")),
    *(f"route {name}" for name in ("interpreter", "opcode_and_window_jit", "opcode_jit",
                                   "window_jit", "queue_jit")),
    *(f"{name} {value}" for value in (True, False) for name in (
        "promote_hot_opcodes", "promote_hot_windows", "age_priority_work", "topology complete",
        "promotion complete")),
    *(f"error zero_adapter_limit {limit}" for limit in reference.LIMITS),
    "error overflow hit_capacity", "error overflow estimated_peak_device_bytes",
    "error policy_out_of_range memory_pressure_threshold_bps", "error device_out_of_memory",
    *(f"left out {name}" for name, (_, default) in REQUEST.items() if default is not None),
    "inferred frontier_density_bps", "inferred memory_pressure_bps", "not held",
    # "held RAW as PREVIOUS": every band, from every side it can be entered.
    *(f"held {raw} as {previous}" for raw in HELD for previous in HELD[raw]),
    "shed memory_constrained", "shed sparse_frontier", "worker groups from the limits",
    "hits multiplied", "hits not multiplied", "padding saturated",
}


# The small commands.

def real(rng: random.Random) -> float:
    kind = rng.random()
    if kind < 0.25:
        return rng.choice((0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 0.1, 5e-324, -5e-324))
    return rng.uniform(-2.0, 2.0) * (10.0 ** rng.randint(-12, 12) if kind < 0.6 else 1.0)


def reals(rng: random.Random, count: int) -> list[float]:
    return [real(rng) for _ in range(count)]


def some_length(rng: random.Random, usual: int) -> int:
    """The usual length, or now and then another one."""
    return usual if rng.random() < 0.85 else rng.randint(0, usual + 2)


def drain_input(rng: random.Random) -> Document:
    marks = (0, 0, 1, U64, U64 - reference.NEAR_LIMIT)
    return {"requeue_count": number(rng, U64, *marks), "aged_promotions": number(rng, U64, *marks),
            "max_priority_age": number(rng, U32, 0, 0, 1)}


def diffuse_input(rng: random.Random) -> Document:
    count = rng.randint(0, 8)
    return {"priority_stalks": reals(rng, count),
            "restriction_diag": reals(rng, some_length(rng, count)), "damping": real(rng),
            "iterations": rng.choice((0, 1, 2, 5, rng.randint(0, 20)))}


def choose_input(rng: random.Random) -> Document:
    count = rng.randint(0, 6)
    few = reals(rng, 3) + [0.0, -0.0, 1e308, -1e308]  # so that costs are often equal
    return {"candidates": [number(rng, U32, 0, 1, 64, 256) for _ in range(count)],
            "costs": [rng.choice((*few, None)) for _ in range(some_length(rng, count))],
            "current": number(rng, U32, 2, 64)}


def step_input(rng: random.Random) -> Document:
    n = rng.randint(0, 5)
    return {"m_inv_sqrt": reals(rng, some_length(rng, n * n)),
            "grad": reals(rng, some_length(rng, n)), "n": n, "learning_rate": real(rng)}


# Command -> (kind of its lines, generator, reference).
SMALL: dict[tuple[str, str], tuple[str, Any, Any]] = {
    ("priority", "drain"): ("drain_recommendation", drain_input, reference.drain),
    ("priority", "diffuse"): ("diffused_priorities", diffuse_input,
                              lambda given: {"output": reference.diffuse(*given.values())}),
    ("tune", "choose"): ("tuning_choice", choose_input,
                         lambda given: {"value": reference.choose(*given.values())}),
    ("tune", "step"): ("natural_gradient_step", step_input,
                       lambda given: {"output": reference.gradient_step(*given.values())}),
}


@functools.cache
def small_cases(command: tuple[str, str]) -> tuple[Case, ...]:
    """Random inputs of one small command; those whose answer leaves the doubles are left out."""
    kind, generate, answer = SMALL[command]
    rng, made = random.Random(f"{SEED} {command}"), []
    for index in range(SMALL_INPUTS):
        given = generate(rng)
        expected = answer(given)
        if all(map(math.isfinite, expected.get("output", ()))):
            made.append(Case(f"seed {SEED}, input {index}", given, {
                "ok": {"kind": kind, "schema_version": 1, **expected}}))
    return tuple(made)


def setUpModule() -> None:
    print(f"TIDEGATE_SEED={SEED}", file=sys.stderr)


class GeneratorCoverage(unittest.TestCase):
    """What the random inputs reach, by the reference alone: needs no binary."""

    def test_requests_reach_every_rule(self) -> None:
        counts = Counter(name for case in cases() for name in reached(case))
        missing = sorted(WANTED - set(counts))
        self.assertEqual(missing, [], f"reached by none of {len(cases())} requests, seed {SEED}")

    def test_small_inputs_reach_every_rule(self) -> None:
        for command in SMALL:
            self.assertGreater(len(small_cases(command)), SMALL_INPUTS // 2, command)
        reasons = {case.expect["ok"]["reason"] for case in small_cases(("priority", "drain"))}
        self.assertEqual(len(reasons), 6, reasons)
        for command in (("priority", "diffuse"), ("tune", "step")):
            lengths = {len(case.expect["ok"]["output"]) for case in small_cases(command)}
            self.assertGreater(len(lengths), 4, command)
        costs = [case.document["costs"] for case in small_cases(("tune", "choose"))]
        self.assertTrue(any({"0.0", "-0.0"} <= set(map(repr, some)) for some in costs))


class AgainstBinary(unittest.TestCase):
    """The same inputs through tidegate, line by line against the reference."""

    def test_recommend(self) -> None:
        check_stream(self, ["recommend", "--evidence", "all"], cases())

    def check_small(self, *command: str) -> None:
        check_stream(self, command, small_cases(command), extra_ok=True)

    def test_priority_drain(self) -> None:
        self.check_small("priority", "drain")

    def test_priority_diffuse(self) -> None:
        self.check_small("priority", "diffuse")

    def test_tune_choose(self) -> None:
        self.check_small("tune", "choose")

    def test_tune_step(self) -> None:
        self.check_small("tune", "step")

    def test_what_is_not_finite_becomes_null(self) -> None:
        for command, document, expected in (
                (("tune", "step"), {"m_inv_sqrt": [1e308, 0.0, 0.0, 1.0], "grad": [1e308, 1.0],
                                    "n": 2, "learning_rate": 1.0}, [None, -1.0]),
                (("priority", "diffuse"), {"priority_stalks": [1e308, 1.0], "damping": 1.0,
                                           "restriction_diag": [-1e308, 0.0], "iterations": 1},
                 [None, 1.0])):
            with self.subTest(command):
                stream = run_stream(command, [document])
                self.assertEqual([got.get("output") for got in stream.lines], [expected])
                self.assertIn(stream.rc, (0, 1))


if __name__ == "__main__":
    unittest.main()
