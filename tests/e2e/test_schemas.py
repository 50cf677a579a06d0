"""JSON Schemas by an independent validator: valid themselves, equal to what is committed, and accepting every
example and every kind of output; what the tool refuses for its shape they refuse too."""

import json
import unittest

import jsonschema

from support import EXAMPLES, run

INPUTS = {  # example -> (document type, command)
    "bfs_wave": ("launch_request", ["recommend"]),
    "dense_fused_wave": ("launch_request", ["recommend"]),
    "memory_pressure": ("launch_request", ["recommend"]),
    "launch_policy": ("launch_policy", None),
    "stereo_camera": ("wave_dag", ["plan", "--planner", "compact"]),
    "stereo_buffers": ("buffer_lifetimes", ["arena"]),
    "requeue_accounting": ("requeue_accounting", ["priority", "drain"]),
    "sibling_diffusion": ("sibling_diffusion", ["priority", "diffuse"]),
    "measured_costs": ("measured_costs", ["tune", "choose"]),
    "natural_gradient": ("natural_gradient", ["tune", "step"]),
}


def schema(name: str) -> dict:
    return json.loads(run("schema", name).stdout)


def validator(name: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(schema(name))


class Schemas(unittest.TestCase):
    def test_printed_ones_are_schemas(self) -> None:
        """tests/app/catalogue_test.cpp holds them against those that are committed."""
        for entry in json.loads(run("schema").stdout)["schemas"]:
            jsonschema.Draft202012Validator.check_schema(schema(entry["name"]))

    def test_examples_and_outputs_are_accepted(self) -> None:
        self.assertEqual(sorted(path.stem for path in EXAMPLES.glob("*.json")), sorted(INPUTS))
        for example, (name, command) in INPUTS.items():
            path = EXAMPLES / f"{example}.json"
            validator(name).validate(json.loads(path.read_text()))
            if command:
                options = ["--evidence", "all", "--explain"] if command == ["recommend"] else []
                answer = json.loads(run(*command, *options, str(path)).stdout)
                validator(answer["kind"]).validate(answer)
        for command in (["schema"], ["version"], ["check", "launch_policy", str(EXAMPLES / "launch_policy.json")],
                        ["check", str(EXAMPLES / "measured_costs.json"), "/does/not/exist"]):
            answer = json.loads(run(*command).stdout)
            validator(answer["kind"]).validate(answer)

    def test_errors_are_accepted(self) -> None:
        bad = ['{"queue_len": -1}', '{"quue_len": 1}', "{", "", '{"queue_len": 1}',
               '{"queue_len": 1, "requested_worker_groups": 1, "max_workgroup_size_x": 1, '
               '"device_memory_budget_bytes": 1}']
        for text in bad:
            for line in run("recommend", "--errors", "json", input=text).stderr.splitlines():
                validator("error").validate(json.loads(line))
        lines = run("recommend", "--stream", input="\n".join(bad)).stdout.splitlines()
        self.assertEqual(len(lines), len(bad) - 1)  # the empty one is no line
        for line in lines:
            validator("stream_error").validate(json.loads(line))

    def test_what_the_tool_refuses_for_its_shape(self) -> None:
        request = {"queue_len": 1, "requested_worker_groups": 1, "max_workgroup_size_x": 1}
        wrong = [{"queue_len": -1}, {"queue_len": 2**32}, {"queue_len": "1"}, {"queue_len": None}, {"surplus": 1},
                 {"frontier_density_bps": 65536}, {"requeue_count": 2**64}, {"previous_topology": "dense"},
                 {"policy": {"surplus": 1}}, {"policy": {"sizing": {"occupancy_worker_divisor": 0}}}, {"policy": []},
                 {"kind": "launch_policy"}, {"schema_version": 2}]
        accepting = validator("launch_request")
        for change in wrong:
            document = {**request, **change}
            self.assertFalse(accepting.is_valid(document), change)
            self.assertEqual(run("recommend", input=json.dumps(document)).rc, 3, change)
        for key in request:
            document = {other: value for other, value in request.items() if other != key}
            self.assertFalse(accepting.is_valid(document), key)
            self.assertEqual(run("recommend", input=json.dumps(document)).rc, 3, key)
