// The part in words and numbers: the outcome, the device, the choices with their reasons, times, comparisons.

const GOOD_ENDS = ["done", "planned", "checked"];

function showTitle({program_file: file, report, version}) {
  document.title = `${visible(file)}: ${report.status} · tidegate run`;
  document.getElementById("title").replaceChildren(quoted(file),
    element("span", {class: `badge ${GOOD_ENDS.includes(report.status) ? "good" : "bad"}`, id: "status"},
      report.status.replaceAll("_", " ")));
  document.getElementById("origin").replaceChildren(
    `Made by tidegate ${version}. Everything on this page is in it: nothing is fetched.`);
}

function showHeader(data) {
  const {report, program} = data;
  showTitle(data);
  const groups = report.plan.barriers.groups.length;
  const shape = `${plural(program.waves.length, "wave")} in ${plural(groups, "group")}`;
  fill(document.getElementById("lead"), report.status === "planned"
    ? `${shape}, planned and not run.`
    : `${shape}, ${plural(report.iterations, "iteration")}${howLaunched(report.telemetry.kernel_launches,
      isDivided(report) ? 0 : report.effective_geometry.worker_groups)}`
      + `${report.device ? ` on ${report.device.name}` : ""}.`);
}

function isDivided(report) {
  return report.strategy === "launch" || report.fallbacks.length !== 0 || report.new_launches !== undefined;
}

function launches(count) {
  return count === 1 ? "one launch" : `${number(count)} launches`;
}

function howLaunched(count, groups) {
  if (count === 0) {
    return "";
  }
  if (groups === 0) {
    return ` in ${launches(count)}`;
  }
  const slices = count === 1 ? "" : ` in ${count} slices`;
  return ` in a persistent launch of ${plural(groups, "work-group")}${slices}`;
}

function showNotices(data) {
  const {report} = data;
  const box = document.getElementById("notices");
  if (report.error) {
    fill(box, element("div", {class: "notice bad", id: "error"},
      element("p", {}, element("strong", {}, report.error.message)), element("p", {}, report.error.fix)));
  }
  for (const stuck of report.stuck_groups) {
    fill(box, element("div", {class: "notice bad"}, element("p", {},
      `Work-group ${stuck.group} waits in front of stage ${stuck.stage} (${stuck.waves.join(", ")}), tile ${stuck.tile}, `
      + `iteration ${stuck.iteration}: ${stuck.counter} is ${stuck.seen}, not ${stuck.expected}.`)));
  }
  for (const warning of report.warnings) {
    fill(box, element("div", {class: "notice warn"}, element("p", {}, element("strong", {}, warning.message)),
      element("p", {}, warning.fix, warning.pointer ? element("span", {class: "soft"}, ` (${warning.pointer})`) : null)));
  }
}

function showFigures(data) {
  const {report} = data;
  const ran = report.telemetry.kernel_launches !== 0;
  const {arena_bytes: arena, sum_bytes: sum} = report.memory;
  const built = report.telemetry.compiled_pipeline_cache_hit ? "from an earlier run" : `built in ${time(report.build_ns)}`;
  showEntries([
    report.comparison && ["Speed", figure("comparison.speedup", report.comparison.speedup, `${timesText(report.comparison.speedup)}×`),
      `as ${report.comparison.speedup < 1 ? "slow" : "fast"} as plain launches`],
    ["Outputs", ...verdict(report)],
    ran && ["Dispatch", figure("backend_dispatch_ns", report.backend_dispatch_ns, time(report.backend_dispatch_ns)),
      `kernels ${built}`],
    ran && report.iterations > 1 && ["An iteration", time(report.backend_dispatch_ns / report.iterations), "in the mean",
      ` of ${number(report.iterations)}`],
    ["Items", figure("items_processed", report.items_processed, number(report.items_processed)),
      report.items_remaining === 0 ? "all that there are" : `${number(report.items_remaining)} are left`],
    ["Memory", figure("memory.arena_bytes", arena, bytes(arena)),
      sum > arena ? `${bytes(sum)} without sharing` : "one arena for all buffers"],
  ]);
}

// Each a name, a value and a rest.
function showEntries(entries) {
  document.getElementById("figures").replaceChildren(...entries.filter((entry) => entry).map(([name, value, ...rest]) => element("dl", {style: "margin:0"},
    element("dt", {}, name), element("dd", {class: "value"}, value), element("dd", {class: "rest"}, rest))));
}

function verdict(report) {
  const parity = report.output_parity;
  if (report.halos) {
    return report.halos.violation ? [element("span", {class: "bad"}, "beyond a halo"), "see the error"]
      : ["in halos", plural(report.halos.stated_halos, "stated halo")];
  }
  if (report.bounds) {
    const found = report.bounds.violations.length + report.bounds.findings.length;
    return found === 0 ? ["in bounds", "no write outside a buffer"]
      : [element("span", {class: "bad"}, "out of bounds"), plural(found, "finding")];
  }
  if (!parity) {
    return ["not checked", "--verify compares them"];
  }
  const checked = figure("output_parity.checked", parity.checked, plural(parity.checked, "output"));
  return parity.equal
    ? [element("span", {class: "good"}, "equal"), checked, ", byte for byte"]
    : [element("span", {class: "bad"}, "different"), figure("output_parity.differing_elements", parity.differing_elements,
      plural(parity.differing_elements, "element")), " in ", checked];
}

function because(choice, reason) {
  return [element("strong", {}, choice), element("span", {class: "soft"}, `: ${reason}`)];
}

function deviceFact({device}) {
  return device && ["Device", device.name, element("div", {class: "soft small"}, `${device.platform}, ${device.driver_version}`)];
}

function ranksFact({ranks}) {
  return ranks && ["Processes", ranks.ranks.map((of) => element("div", {}, `rank ${of.rank}: ${time(of.dispatch_ns)}, waiting ${time(of.waiting_ns)}, `
    + `${bytes(of.bytes_sent)} in ${plural(of.messages, "message")}`, element("span", {class: "soft"}, ` (${of.device}, ${of.host})`)))];
}

function orderingFact({ordering}) {
  return ["Ordering", ordering, element("span", {class: "soft"}, ", by the device's self-test")];
}

function showHow(data) {
  const {report} = data;
  const geometry = report.effective_geometry;
  const box = document.getElementById("how-body");
  const parity = report.output_parity;
  fill(box, facts([
    deviceFact(report),
    ["Strategy", because(report.strategy, report.strategy_reason)],
    report.candidates && ["Estimated", report.candidates.map((candidate) => element("div", {class: candidate.taken ? "" : "soft"},
      `${candidate.strategy}${candidate.worker_groups === 0 ? "" : `, ${candidate.worker_groups} of ${candidate.workgroup_size}`}: `,
      time(candidate.estimated_ns), candidate.measured_ns === undefined ? "" : `, measured ${time(candidate.measured_ns)}`,
      candidate.refused === undefined ? "" : `; ${candidate.refused}`))],
    ["Mode", because(report.execution_mode, report.mode_reason)],
    ["Promotion", because(report.promotion.promoted, report.promotion.reason),
      report.promotion.windows.map((window) => element("div", {class: "soft small"}, `one wave: ${window.waves.join(", ")}`
        + (window.register_buffers.length === 0 ? "" : `; in registers: ${window.register_buffers.join(", ")}`)))],
    geometry.worker_groups !== 0 && ["Geometry", figure("effective_geometry.worker_groups", geometry.worker_groups,
      plural(geometry.worker_groups, "work-group")), ` of ${geometry.workgroup_size} work-items`,
      element("span", {class: "soft"}, `; recommended ${report.recommended_geometry.worker_groups} of `
        + `${report.recommended_geometry.workgroup_size}; ${report.geometry_reason}`)],
    report.ordering && orderingFact(report),
    ranksFact(report),
    report.until && ["Until", quoted(report.until.buffer), ` is ${report.until.value}`,
      report.until.reached ? "" : element("span", {class: "bad"}, `, waiting for ${report.until.waiting_for}`)],
    parity && !parity.equal && parity.first_difference && ["Difference", "element "
      + `${parity.first_difference.element} of `, quoted(parity.first_difference.buffer),
      ` is ${parity.first_difference.found}, plain launches make it ${parity.first_difference.expected}`],
    report.expected && ["Expected", report.expected.map((of) => element("div", {class: of.equal ? "" : "bad"},
      quoted(of.buffer), of.equal ? ` as in ${of.file}` : `: ${of.outside} of ${plural(of.elements, "element")} not as in ${of.file}`))],
    report.stress && ["Stress", report.stress.failure === undefined ? `${plural(report.stress.runs, "run")} in other orders`
      : element("span", {class: "bad"}, `failed: ${report.stress.failure.variation}`)],
    report.fallbacks.length !== 0 && ["Alone", report.fallbacks.map((wave) =>
      element("div", {}, wave.wave, element("span", {class: "soft"}, `: ${wave.reason}`)))],
    report.new_launches && ["New launch", report.new_launches.map((wave) =>
      element("div", {}, wave.wave, element("span", {class: "soft"}, `: ${wave.reason}`)))],
  ]));
  showBounds(report, box);
  if (report.telemetry.kernel_launches !== 0) {
    showWallTime(report, box, [
      ["planning", "queue_plan_ns", COLOURS[4]], ["building kernels", "build_ns", COLOURS[5]],
      ["filling memory", "queue_publish_ns", COLOURS[2]], ["dispatch", "backend_dispatch_ns", COLOURS[0]],
      ["reading back", "read_back_ns", COLOURS[3]]]);
  }
}

function showBounds(report, box) {
  if (!report.bounds) {
    return;
  }
  for (const found of report.bounds.violations) {
    const place = found.side === "before" ? `${plural(found.distance_bytes, "byte")} before the start of `
      : `${plural(found.distance_bytes + 1, "byte")} past the end of `;
    fill(box, element("p", {class: "bad"}, `${found.wave} wrote ${place}`, quoted(found.buffer),
      `, in iteration ${found.iteration}`));
  }
  for (const found of report.bounds.findings) {
    fill(box, element("p", {class: "bad"}, `${found.file}:${found.line}: ${found.message} (${found.kernel})`));
  }
}

// The report's times, each with a name and a colour.
function showWallTime(report, box, times) {
  const parts = times.map(([name, field, colour]) => [name, field, report[field], colour]);
  const known = parts.reduce((sum, part) => sum + part[2], 0);
  parts.push(["comparison, files and the rest", null, Math.max(0, report.wall_time_ns - known), "var(--slice)"]);
  const whole = parts.reduce((sum, part) => sum + part[2], 0);
  fill(box, element("h3", {class: "small soft", style: "margin:1.2rem 0 0.3rem;font-weight:500"}, "Wall time ",
    figure("wall_time_ns", report.wall_time_ns, time(report.wall_time_ns))),
    element("div", {class: "bar", role: "img", "aria-label": parts.map(([name, , ns]) => `${name} ${time(ns)}`).join(", ")},
      parts.map(([, , ns, colour]) => element("span", {style: `width:${100 * ns / whole}%;background:${colour}`}))),
    legend(parts.map(([name, , ns, colour]) => [swatch(colour), `${name} ${time(ns)}`])));
}

function showSpeed(data) {
  const {comparison} = data.report;
  const box = document.getElementById("speed-body");
  if (!comparison) {
    return;
  }
  const other = data.program === null ? "a launch a step" : "plain launches";
  document.getElementById("speed").textContent = `Against ${other}`;
  const rows = [["this run", "run"], [other, "plain"]].map(([name, way]) =>
    [name, way, comparison[`${way}_rounds_ns`], comparison[`${way}_ns`]]).filter(([, , rounds]) => rounds.length !== 0);
  const chart = element("div");
  fill(box, element("p", {}, speedText(comparison, other)), chart,
    table(["", "#min", "#median", "#max"], rows.map(([name, way, rounds, middle]) => [name,
      figure(`comparison.${way}_rounds_ns.min`, least(rounds), time(least(rounds))),
      figure(`comparison.${way}_ns`, middle, time(middle)),
      figure(`comparison.${way}_rounds_ns.max`, most(rounds), time(most(rounds)))])));
  drawnToWidth(chart, (width) => chart.replaceChildren(spreadChart(rows, width)));
}

// "1.31 to 1.44" times as fast, or as slow below 1.
function timesText(speedup) {
  return digits(speedup < 1 ? 1 / speedup : speedup);
}

function speedText({speedup, speedup_low: low, speedup_high: high, verdict, rounds: count}, other) {
  const rounds = `${plural(count, "round")} in turn`;
  const slow = speedup < 1;
  const ratio = `${timesText(speedup ?? 1)} times as ${slow ? "slow" : "fast"} as ${other} (${digits(slow ? 1 / high : low ?? 1)} to ${
    digits(slow ? 1 / low : high ?? 1)}`;
  return {
    faster: `${ratio} with 95 % confidence, ${rounds}).`,
    slower: `${ratio} with 95 % confidence, ${rounds}).`,
    no_difference: `No difference from ${other} is shown (${digits(low ?? 1)} to ${digits(high ?? 1)} times as fast with 95 % confidence, ${rounds}).`,
    same_launches: "The run is the same launches as the plain ones: what differs is chance.",
    too_few_rounds: `${ratio}, ${rounds}: too few for a verdict).`,
  }[verdict] ?? `${plural(count, "round")} of this run, which is ${other}.`;
}

// Each round a dot, from the fastest to the slowest a line, the median a bar.
function spreadChart(rows, width) {
  const [left, right, rowHeight] = [104, 12, 44];
  const height = 38 + rowHeight * rows.length;
  const slowest = most(rows.flatMap((row) => row[2]));
  const step = niceStep(slowest, Math.max(2, (width - left) / 90));
  const end = Math.ceil(slowest / step - 1e-9) * step;
  const x = (ns) => left + (width - left - right) * ns / end;
  const picture = drawn("svg", {width, height, role: "img", "aria-label": rows.map(([name, , rounds, middle]) =>
    `${name}: ${time(least(rounds))} to ${time(most(rounds))}, median ${time(middle)}`).join("; ")});
  for (let tick = 0; tick <= end * 1.001; tick += step) {
    picture.append(drawn("line", {class: "rule", x1: x(tick), x2: x(tick), y1: 4, y2: height - 24}),
      drawn("text", {class: "quiet", x: Math.min(x(tick), width - 2), y: height - 8, "font-size": 11,
        "text-anchor": x(tick) > width - 30 ? "end" : tick === 0 ? "start" : "middle"},
      tick === 0 ? "0" : timeOnAxis(tick, step, end)));
  }
  rows.forEach(([name, , rounds, middle], row) => {
    const y = 8 + rowHeight * (row + 0.5);
    const colour = row === 0 ? COLOURS[0] : COLOURS[1];
    picture.append(drawn("text", {x: 0, y: y + 4, "font-size": 13}, name),
      drawn("line", {x1: x(least(rounds)), x2: x(most(rounds)), y1: y, y2: y, stroke: colour, "stroke-width": 2}),
      ...rounds.map((ns) => drawn("circle", {cx: x(ns), cy: y, r: 4, fill: colour, "fill-opacity": 0.55})),
      drawn("rect", {x: x(middle) - 2, y: y - 12, width: 4, height: 24, rx: 2, fill: colour},
        drawn("title", {}, `median ${time(middle)}`)));
  });
  return picture;
}

function showWaves(data) {
  const {wave_times: times} = data.report;
  const box = document.getElementById("waves-body");
  if (!times) {
    return;
  }
  const part = (ns, whole) => `${(100 * ns / Math.max(1, whole)).toFixed(1)} %`;
  const shown = times.waves.slice(0, 40);
  fill(box, element("p", {}, "The critical path, measured, takes ", figure("wave_times.critical_path_ns", times.critical_path_ns,
    time(times.critical_path_ns)), ": from the task that ended last back to the first, each time to the task that it waited for longest. ",
  part(times.synchronization_ns, times.critical_path_ns), " of it is between waves: signals, barriers, launches."),
  element("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": "Where the time went"}, table(["wave", "#of the path", "#a run", "#waiting", "#GB/s, if each byte moves once"], shown.map((wave) => [visible(wave.waves),
    part(wave.critical_ns, times.critical_path_ns), wave.time_ns === 0 ? "-" : time(wave.time_ns / wave.executions), part(wave.wait_ns, wave.work_ns + wave.wait_ns),
    wave.time_ns === 0 ? "-" : digits(wave.buffer_bytes * wave.executions / wave.time_ns)]))),
  firstOf(shown, times.waves),
  times.device_bytes_per_ns === 0 ? null : element("p", {class: "soft small"},
    `The device's memory: ${digits(times.device_bytes_per_ns)} GB/s, as its self-test measured.`));
}

function showPolicy(data) {
  const {report, program} = data;
  const {complete, topology, promotion} = report.evidence;
  const launch = report.recommendation;
  fill(document.getElementById("policy-body"),
    element("p", {style: "margin:0"}, element("strong", {}, launch.topology), ` in ${launch.execution_mode} mode, `
      + `${launch.geometry.dispatch_grid[0]} work-groups of ${launch.geometry.workgroup_size_x}, queue ${launch.pressure}`,
    element("span", {class: "soft"}, `; evidence of the topology ${complete.topology ? "complete" : "incomplete"}, `
      + `of the promotion ${complete.promotion ? "complete" : "incomplete"}`)),
    element("details", {}, element("summary", {}, "Decisions"),
      table(["decision", "outcome", "because"], program.reasons.map((step) => step.map((text) => [text])), {class: "steps"})),
    element("details", {}, element("summary", {}, "Evidence"),
      table(["topology", "value"], evidenceRows(topology)), table(["promotion", "value"], evidenceRows(promotion))));
}

function evidenceRows(evidence) {
  return Object.entries(evidence ?? {}).map(([name, value]) => [name, String(value)]);
}

// A word as a shell takes it for that word.
function shellWord(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function showAgain(data) {
  const {report} = data;
  fill(document.getElementById("again-body"),
    element("pre", {id: "command", tabindex: 0, "aria-label": "the command that made this page"},
      data.command.map(shellWord).join(" ")),
    report.files_written.length === 0 ? element("p", {class: "soft"}, "No other file was written.")
      : facts(report.files_written.map((file) => [quoted(file.file), visible(file.what),
        element("span", {class: "soft"}, `, ${bytes(file.bytes)}`)])));
}
