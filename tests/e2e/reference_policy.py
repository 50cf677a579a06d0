"""The launch policy, written a second time from the text of its rules alone.

The one idea: Python's integers never overflow, so every rule is stated as plain arithmetic and a
bound is checked afterwards, by name, where the text says that a step can fail. Nothing here is
fast, and nothing here has seen the C++ code; the two agree only if both follow the text.

`python3 reference_policy.py --golden DIR` compares it with the golden vectors.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

Document = dict[str, Any]

U16, U32, U64 = 2**16 - 1, 2**32 - 1, 2**64 - 1
FULL_BPS = 10_000
HYSTERESIS_BPS = 250
NEAR_LIMIT = 1024

# Request field -> (largest value, default). None: required. A string: that other field's value.
REQUEST: dict[str, tuple[int, int | str | None]] = {
    "queue_len": (U32, None),
    "requested_worker_groups": (U32, None),
    "max_workgroup_size_x": (U32, None),
    "max_compute_workgroups_per_dimension": (U32, "requested_worker_groups"),
    "max_compute_invocations_per_workgroup": (U32, "max_workgroup_size_x"),
    "requested_hit_capacity": (U32, 0), "expected_hits_per_item": (U32, 1),
    "hot_opcode_count": (U32, 0), "hot_window_count": (U32, 0),
    "requeue_count": (U64, 0), "max_priority_age": (U32, 0),
    "graph_node_count": (U32, 0), "graph_edge_count": (U32, 0),
    "frontier_density_bps": (U16, 0), "memory_pressure_bps": (U16, 0),
    "resident_device_bytes": (U64, 0), "device_memory_budget_bytes": (U64, 0),
}

# Policy field -> (largest value, standard value); `sizing` is the nested object below.
POLICY: dict[str, tuple[int, int]] = {
    "min_hit_capacity": (U32, 1024), "hit_capacity_multiplier": (U32, 2),
    "saturated_waves": (U32, 4),
    "hot_opcode_threshold": (U32, 8), "hot_window_threshold": (U32, 4),
    "jit_queue_len_threshold": (U32, 4096),
    "priority_age_threshold": (U32, 32),
    "sparse_frontier_threshold_bps": (U16, 500), "dense_frontier_threshold_bps": (U16, 4000),
    "memory_pressure_threshold_bps": (U16, 8500),
    "fusion_edge_threshold": (U32, 65536), "scratch_bytes_per_hit": (U32, 16),
}
SIZING: dict[str, int] = {
    "default_worker_count": 64,  # the library's helpers only; no step here reads it
    "occupancy_worker_divisor": 256, "max_dispatch_workgroups": 1024,
    "powerful_invocation_threshold": 4096, "powerful_min_worker_groups": 64,
}
TOPOLOGIES = ("empty", "sparse_frontier", "hybrid_frontier", "dense_frontier", "fused_dense",
              "memory_constrained")
LIMITS = ("max_workgroup_size_x", "max_compute_workgroups_per_dimension",
          "max_compute_invocations_per_workgroup")  # in the order in which a zero is refused


class Refused(Exception):
    """A step that cannot be taken; `error` is its code and typed fields."""

    def __init__(self, code: str, **fields: Any) -> None:
        super().__init__(code)
        self.error: Document = {"code": code, **fields}


def checked(value: int, largest: int, field: str) -> int:
    if value > largest:
        raise Refused("overflow", field=field)
    return value


def clamp(value: int, low: int, high: int) -> int:
    return max(low, min(value, high))


def full_request(document: Document) -> Document:
    """All 17 fields, those left out at their defaults; KeyError for a required one left out."""
    request: Document = {}
    for name, (_, default) in REQUEST.items():
        fallback = request[default] if isinstance(default, str) else default
        request[name] = document[name] if fallback is None else document.get(name, fallback)
    return request


def full_policy(overrides: Document | None) -> Document:
    """The standard policy with the given fields replaced, `sizing` field by field."""
    given = overrides or {}
    return {**{name: standard for name, (_, standard) in POLICY.items()}, **given,
            "sizing": {**SIZING, **given.get("sizing", {})}}


# Steps 2 to 6: what shape the frontier has, and how many workers it gets.

def effective_request(request: Document) -> Document:
    """Step 2: fill the density and the pressure in from sizes when they were not measured."""
    effective = dict(request)
    queue, nodes = request["queue_len"], request["graph_node_count"]
    resident, budget = request["resident_device_bytes"], request["device_memory_budget_bytes"]
    if request["frontier_density_bps"] == 0 and queue and nodes:
        share = min(queue, nodes) * FULL_BPS // nodes
        effective["frontier_density_bps"] = clamp(share, 1, FULL_BPS)
    if request["memory_pressure_bps"] == 0 and budget and resident:
        effective["memory_pressure_bps"] = min(resident * FULL_BPS // budget, FULL_BPS)
    return effective


def promotions(request: Document, policy: Document) -> tuple[bool, bool]:
    """Step 3: (opcodes, windows)."""
    return (request["hot_opcode_count"] >= policy["hot_opcode_threshold"],
            request["hot_window_count"] >= policy["hot_window_threshold"])


def can_fuse(request: Document, policy: Document) -> bool:
    return (request["graph_edge_count"] >= policy["fusion_edge_threshold"]
            and any(promotions(request, policy)))


def raw_topology(request: Document, policy: Document) -> str:
    """Step 4."""
    density = request["frontier_density_bps"]
    if request["queue_len"] == 0:
        return "empty"
    if request["memory_pressure_bps"] >= policy["memory_pressure_threshold_bps"]:
        return "memory_constrained"
    if density <= policy["sparse_frontier_threshold_bps"]:
        return "sparse_frontier"
    if density >= policy["dense_frontier_threshold_bps"]:
        fused = request["graph_node_count"] > 0 and can_fuse(request, policy)
        return "fused_dense" if fused else "dense_frontier"
    return "hybrid_frontier"


def held_topology(raw: str, previous: str | None, request: Document, policy: Document) -> str:
    """Step 5: a topology is kept while its signal stays within the band around the threshold."""
    if previous is None or raw in ("empty", "memory_constrained"):
        return raw

    # The band saturates in u16, which no comparison can see: the signals are u16 themselves.
    sparse, dense, memory = (policy[f"{name}_threshold_bps"] for name in
                             ("sparse_frontier", "dense_frontier", "memory_pressure"))
    density, pressure = request["frontier_density_bps"], request["memory_pressure_bps"]
    near_dense = raw == "hybrid_frontier" and density >= dense - HYSTERESIS_BPS
    stays = {
        "empty": False,
        "memory_constrained": pressure >= memory - HYSTERESIS_BPS,
        "sparse_frontier": raw != "sparse_frontier" and density <= sparse + HYSTERESIS_BPS,
        "hybrid_frontier": (raw == "sparse_frontier" and density >= sparse - HYSTERESIS_BPS
                            or raw in ("dense_frontier", "fused_dense")
                            and density <= dense + HYSTERESIS_BPS),
        "dense_frontier": near_dense,
        "fused_dense": near_dense and can_fuse(request, policy),
    }
    return previous if stays[previous] else raw


def shed_workers(topology: str, request: Document, policy: Document) -> int:
    """Step 6: the requested worker groups that are left."""
    requested = request["requested_worker_groups"]
    pressure, density = request["memory_pressure_bps"], request["frontier_density_bps"]
    if requested <= 1:
        return requested
    if topology == "memory_constrained" and pressure != 0:
        threshold = policy["memory_pressure_threshold_bps"]
        if threshold > FULL_BPS:
            raise Refused("policy_out_of_range", field="memory_pressure_threshold_bps")
        span = max(FULL_BPS - threshold, 1)
        over = clamp(pressure - threshold, 0, span)
        shed = 2500 + over * 2500 // span
        return max(1, requested * (FULL_BPS - shed) // FULL_BPS)
    if topology == "sparse_frontier" and request["graph_node_count"] != 0 and density != 0:
        span = max(policy["sparse_frontier_threshold_bps"], 1)
        scaled = requested * clamp(density, 1, span) // span
        return min(requested, max(scaled, min(requested, 32)))
    return requested


# Steps 7 to 13: sizes and classes.

def grid(queue_len: int, requested: int, max_width: int, per_dimension: int, invocations: int,
         sizing: Document) -> tuple[Document, int]:
    """Step 7: (geometry, worker groups)."""
    for field, limit in zip(LIMITS, (max_width, per_dimension, invocations)):
        if limit == 0:
            raise Refused("zero_adapter_limit", field=field)
    most = sizing["max_dispatch_workgroups"]
    powerful = invocations >= sizing["powerful_invocation_threshold"]
    occupancy = min(per_dimension,
                    max(clamp(per_dimension // sizing["occupancy_worker_divisor"], 1, most),
                        sizing["powerful_min_worker_groups"] if powerful else 1))
    groups = max(1, occupancy if requested == 0 else min(requested, per_dimension))
    width = min(groups, max_width)
    slots = min(min(max(queue_len, 1) + width - 1, U32) // width * width, U32)
    waves = min(max(1, min(slots + width - 1, U32) // width), groups, most)
    return {"workgroup_size_x": width, "slot_count": slots, "dispatch_grid": [waves, 1, 1]}, groups


def pressure_class(geometry: Document, request: Document, policy: Document) -> str:
    """Step 8."""
    queue = request["queue_len"]
    lanes = geometry["dispatch_grid"][0] * geometry["workgroup_size_x"]
    if queue == 0:
        return "empty"
    if request["requeue_count"] > 0 or queue >= lanes * policy["saturated_waves"]:
        return "saturated"
    return "balanced" if queue >= lanes else "light"


def hit_capacity(request: Document, policy: Document) -> int:
    """Step 9; each product is checked, so a zero multiplier does not hide an overflow before it."""
    if request["requested_hit_capacity"] != 0:
        return request["requested_hit_capacity"]
    pressed = request["memory_pressure_bps"] >= policy["memory_pressure_threshold_bps"]
    hits = request["queue_len"]
    for factor in (max(request["expected_hits_per_item"], 1),
                   1 if pressed else policy["hit_capacity_multiplier"]):
        hits = checked(hits * factor, U32, "hit_capacity")
    return max(hits, policy["min_hit_capacity"])


def steps(request: Document, policy: Document, previous: str | None) -> Document:
    """Steps 2 to 13 in their order, on a full request and a full policy."""
    request = effective_request(request)
    opcodes, windows = promotions(request, policy)
    topology = held_topology(raw_topology(request, policy), previous, request, policy)
    geometry, groups = grid(request["queue_len"], shed_workers(topology, request, policy),
                            *(request[limit] for limit in LIMITS), policy["sizing"])
    hits = hit_capacity(request, policy)
    peak = checked(request["resident_device_bytes"] + hits * policy["scratch_bytes_per_hit"], U64,
                   "estimated_peak_device_bytes")
    budget = request["device_memory_budget_bytes"]
    if budget != 0 and peak > budget:
        raise Refused("device_out_of_memory", requested=peak, available=budget)
    jit = (request["queue_len"] >= policy["jit_queue_len_threshold"] or opcodes or windows
           or topology == "fused_dense")
    return {
        "geometry": geometry, "worker_groups": groups, "hit_capacity": hits,
        "topology": topology, "pressure": pressure_class(geometry, request, policy),
        "execution_mode": "jit" if jit else "interpreter",
        "promote_hot_opcodes": opcodes, "promote_hot_windows": windows,
        "age_priority_work": (request["requeue_count"] > 0
                              or request["max_priority_age"] >= policy["priority_age_threshold"]),
        "estimated_peak_device_bytes": peak, "device_memory_budget_bytes": budget,
    }


def answer(compute: Callable[[], Document]) -> Document:
    try:
        return {"ok": compute()}
    except Refused as refused:
        return {"error": refused.error}


def recommend(request: Document, policy: Document | None = None,
              previous_topology: str | None = None) -> Document:
    """{"ok": recommendation} or {"error": {"code", typed fields}}."""
    return answer(lambda: steps(full_request(request), full_policy(policy), previous_topology))


# Evidence, with whether it is complete.

def topology_evidence(request: Document, made: Document) -> tuple[Document, bool]:
    request = effective_request(full_request(request))
    density, topology = request["frontier_density_bps"], made["topology"]
    switch = {"sparse_frontier": "sparse", "hybrid_frontier": "hybrid", "dense_frontier": "dense",
              "fused_dense": "dense"}.get(topology, topology)
    return {
        "schema_version": 1,
        "queue_pressure": made["pressure"],
        "frontier_density_bps": density, "semiring_frontier_density_bps": density,
        "selected_topology": topology,
        "graphblas_switch_class": switch,
        "resident_device_bytes": request["resident_device_bytes"],
        "estimated_peak_device_bytes": made["estimated_peak_device_bytes"],
        "output_parity_required": True,
    }, density <= FULL_BPS


def promotion_evidence(request: Document, policy: Document | None,
                       made: Document) -> tuple[Document, bool]:
    request, policy = full_request(request), full_policy(policy)
    route = {(True, True): "opcode_and_window_jit", (True, False): "opcode_jit",
             (False, True): "window_jit", (False, False): "queue_jit"}[
                 made["promote_hot_opcodes"], made["promote_hot_windows"]]
    asked = ("queue_len", "hot_opcode_count", "hot_window_count")
    thresholds = ("jit_queue_len_threshold", "hot_opcode_threshold", "hot_window_threshold")
    echoed = ("execution_mode", "promote_hot_opcodes", "promote_hot_windows")
    return {
        "schema_version": 1,
        **{name: request[name] for name in asked},
        **{name: policy[name] for name in thresholds},
        **{name: made[name] for name in echoed},
        "promotion_route": "interpreter" if made["execution_mode"] == "interpreter" else route,
        "fused_descriptor_window_required": made["promote_hot_windows"],
        "output_parity_required": True,
    }, all(policy[name] != 0 for name in thresholds)


# Priority accounting and tuning mathematics.

def drain(counters: Document) -> Document:
    requeue_room, promoted_room = U64 - counters["requeue_count"], U64 - counters["aged_promotions"]
    reasons = (
        ("requeue_counter_exhausted", requeue_room == 0),
        ("aged_promotion_counter_exhausted", promoted_room == 0),
        ("requeue_counter_near_limit", requeue_room <= NEAR_LIMIT),
        ("aged_promotion_counter_near_limit", promoted_room <= NEAR_LIMIT),
        ("pending_telemetry", any(counters.values())),
        ("none", True),
    )
    reason = next(name for name, holds in reasons if holds)
    return {"should_drain": reason != "none", "reason": reason, **counters,
            "requeue_counter_headroom": requeue_room,
            "aged_promotion_counter_headroom": promoted_room}


def diffuse(stalks: list[float], restriction: list[float], damping: float,
            iterations: int) -> list[float]:
    if len(stalks) != len(restriction):
        return list(stalks)
    output = list(stalks)
    for i, diagonal in enumerate(restriction):
        for _ in range(iterations):
            output[i] = output[i] - (damping * diagonal) * output[i]
    return output


def total_order(x: float) -> int:
    """The place of a double in the IEEE total order: -0.0 stands below 0.0."""
    bits: int = struct.unpack("<q", struct.pack("<d", x))[0]
    return bits if bits >= 0 else bits ^ (2**63 - 1)


def choose(candidates: list[int], costs: list[float | None], current: int | None = None) -> int | None:
    pairs = [(candidate, cost) for candidate, cost in zip(candidates, costs) if cost is not None]
    return min(pairs, key=lambda pair: total_order(pair[1]))[0] if pairs else current


def gradient_step(matrix: list[float], gradient: list[float], n: int, rate: float) -> list[float]:
    if len(matrix) < n * n or len(gradient) < n:
        return []
    output = []
    for row in range(n):
        total = 0.0
        for column in range(n):
            total += matrix[row * n + column] * gradient[column]
        output.append(-rate * total)
    return output


# The comparison with the golden vectors: one adapter for each kind of vector.

def golden_evidence(kind: str, given: Document) -> Document:
    result = recommend(given["request"], given["policy"])
    if "error" in result:
        return result
    made = result["ok"]
    evidence, complete = (topology_evidence(given["request"], made) if kind == "topology" else
                          promotion_evidence(given["request"], given["policy"], made))
    return {"ok": {"recommendation": made, "evidence": evidence, "is_complete": complete}}


GOLDEN: dict[str, Callable[[Document], Document]] = {
    "recommend": lambda v: recommend(v["request"], v["policy"], v["previous_topology"]),
    "topology_evidence": lambda v: golden_evidence("topology", v),
    "promotion_evidence": lambda v: golden_evidence("promotion", v),
    "grid": lambda v: answer(lambda: dict(
        zip(("geometry", "worker_groups"), grid(*v.values(), SIZING)))),
    "priority_drain": lambda v: {"ok": drain(v)},
    "diffuse_priority": lambda v: {"ok": {"output": diffuse(*v.values())}},
    "autotune_hit_capacity_multiplier": lambda v: {"ok": {"value": choose(
        v["candidate_multipliers"], v["costs"],
        full_policy(v["policy"])["hit_capacity_multiplier"])}},
    "autotune_workgroup_size": lambda v: {"ok": {"value": choose(
        v["candidate_sizes"], v["costs"], v["current_size"])}},
    "natural_gradient_step": lambda v: {"ok": {"output": gradient_step(*v.values())}},
}


def main(arguments: list[str]) -> int:
    from support import load_vectors, same

    if len(arguments) != 2 or arguments[0] != "--golden":
        sys.exit("usage: reference_policy.py --golden DIR")
    failures = 0
    for kind, adapter in GOLDEN.items():
        vectors = load_vectors(kind, Path(arguments[1]))
        bad = [f"  {v['id']}: {verdict}" for v in vectors
               if not (verdict := same(v["expect"], adapter(v["input"])))]
        print(f"{kind}: {len(vectors) - len(bad)} of {len(vectors)} pass", *bad[:5], sep="\n")
        failures += len(bad)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
