// The page of a graph program: its answer, and the frontier wave by wave.

const TOPOLOGIES = ["sparse_frontier", "hybrid_frontier", "dense_frontier", "fused_dense", "memory_constrained"];

function topologyColour(topology) {
  return COLOURS[Math.max(0, TOPOLOGIES.indexOf(topology))];
}

function words(name) {
  return name.replaceAll("_", " ");
}

// 1234567 is "1.23 million".
function large(count) {
  const [unit, name] = [[1e9, " billion"], [1e6, " million"], [1e3, " thousand"]].find(([size]) => count >= size) ?? [1, ""];
  return unit === 1 ? number(count) : digits(count / unit) + name;
}

function showTraversal(data) {
  const {report} = data;
  const {vertices, edges} = report.graph;
  showTitle(data);
  fill(document.getElementById("lead"), `${report.algorithm} over ${plural(vertices, "vertex").replace("vertexs", "vertices")} and `
    + `${plural(edges, "edge")}`, report.status === "planned" ? "; nothing was run."
    : `: ${plural(report.summary.waves, "wave")}${report.strategy === "launch" ? ` in ${launches(report.kernel_launches)}`
      : howLaunched(report.kernel_launches, report.effective_geometry.worker_groups)}${report.device ? ` on ${report.device.name}` : ""}.`);
}

// The numbers that the user asked for: a name, a value, a rest each.
function answers({answer, graph}) {
  if (!answer) {
    return [];
  }
  const of = (field) => figure(`answer.${field}`, answer[field], number(answer[field]));
  if (answer.components !== undefined) {
    return [["Components", of("components"), ["the largest of ", of("largest"), " vertices"]]];
  }
  if (answer.top !== undefined) {
    return answer.top.slice(0, 1).map(({vertex, rank}) => ["Highest rank", rank.toPrecision(4), `vertex ${number(vertex)}`]);
  }
  return [["Reached", of("reached"), `of ${number(graph.vertices)} vertices`],
    answer.farthest !== undefined && ["Farthest", of("distance"), ["vertex ", of("farthest")]]];
}

function showTraversalFigures(data) {
  const {report} = data;
  const {summary, verification, first_run: first} = report;
  const wrong = verification && !verification.right;
  showEntries([...answers(report),
    report.status !== "planned" && ["Result", verification ? element("span", {class: wrong ? "bad" : "good"}, wrong ? "wrong" : "right")
      : first?.equal ? "right earlier" : "not checked", verification ? verification.checks.join(", ") : first?.reason ?? ""],
    report.kernel_launches !== 0 && ["Traversal", figure("backend_dispatch_ns", report.backend_dispatch_ns, time(report.backend_dispatch_ns)),
      `${large(summary.edges_per_second)} edges a second`],
    report.waves.length !== 0 && ["Widest frontier", figure("summary.widest_vertices", summary.widest_vertices, number(summary.widest_vertices)),
      `vertices, wave ${number(summary.widest_wave)}`],
    ["Memory", figure("memory.bytes", report.memory.bytes, bytes(report.memory.bytes)),
      report.memory.constrained ? "memory constrained" : `${plural(report.memory.parts.length, "part")}`]]);
}

function showTraversalHow(data) {
  const {report} = data;
  const geometry = report.effective_geometry;
  const box = document.getElementById("how-body");
  fill(box, facts([
    deviceFact(report),
    ["Strategy", because(report.strategy, report.strategy_reason)],
    geometry.worker_groups !== 0 && ["Geometry", figure("effective_geometry.worker_groups", geometry.worker_groups,
      plural(geometry.worker_groups, "work-group")), ` of ${plural(geometry.workgroup_size, "work-item")}`],
    report.ordering && orderingFact(report),
    ranksFact(report),
    ["Topologies", report.forced_topology ? `forced: ${words(report.forced_topology)}` : ["chosen wave by wave; rule: ", report.switch_rule],
      report.replay && element("span", {class: report.replay.agreed === report.replay.waves ? "soft" : "bad"},
        `; the host reproduced ${number(report.replay.agreed)} of ${number(report.replay.waves)} choices`)],
    report.converged !== undefined && ["Converged", report.converged ? "yes" : element("span", {class: "bad"}, "no"),
      `: the last iteration changed the ranks by ${report.rank_change.toPrecision(3)} in sum`],
    report.answer?.top && ["Ranks", report.answer.top.map(({vertex, rank}) =>
      element("div", {}, `vertex ${number(vertex)}: ${rank.toPrecision(4)}`))],
  ]));
  if (report.kernel_launches !== 0) {
    showWallTime(report, box, [
      ["reading the graph", "load_ns", COLOURS[4]], ["building kernels", "build_ns", COLOURS[5]],
      ["filling memory", "upload_ns", COLOURS[2]], ["traversal", "backend_dispatch_ns", COLOURS[0]],
      ["reading back", "read_back_ns", COLOURS[3]], ["checking", "verify_ns", COLOURS[6]]]);
  }
}

// Puts waves that follow each other into at most `most` columns; a column shows its widest wave.
function columnsOfWaves(waves, most) {
  const each = Math.ceil(waves.length / most);
  return Array.from({length: Math.ceil(waves.length / each)}, (_, column) => {
    const all = waves.slice(column * each, (column + 1) * each);
    const widest = all.reduce((a, b) => (b.vertices > a.vertices ? b : a));
    const timed = all.filter((wave) => wave.time_ns !== undefined);
    return {first: all[0].wave, last: all.at(-1).wave, widest,
      longest: timed.length === 0 ? null : timed.reduce((a, b) => (b.time_ns > a.time_ns ? b : a))};
  });
}

function showFrontier(data) {
  const {waves} = data.report;
  const box = document.getElementById("frontier-body");
  if (waves.length === 0) {
    return;
  }
  const chart = element("div");
  const shown = TOPOLOGIES.filter((topology) => waves.some((wave) => wave.topology === topology));
  const note = element("p", {class: "hint"});
  fill(box, element("p", {class: "soft"}, "Vertices in the frontier of each wave, and the time of the wave; both scales are logarithmic."
    + (shown.includes("fused_dense") ? " A fused wave works in place and may do the work of several levels." : "")),
  chart, legend(shown.map((topology) => [swatch(topologyColour(topology)), words(topology)])), note);
  drawnToWidth(chart, (width) => {
    const columns = columnsOfWaves(waves, Math.max(16, Math.floor((width - 80) / 3)));
    chart.replaceChildren(frontierChart(data, columns, width));
    const each = columns[0].last - columns[0].first + 1;
    note.textContent = each === 1 ? "" : `A column is ${number(each)} waves: their widest frontier, and their longest time.`;
  });
}

function trimmed(text) {
  return text.replace(/\.0+ /, " ");
}

function frontierChart({report}, columns, width) {
  const [left, right, below] = [92, 8, 30];
  const timed = columns.some((column) => column.longest);
  const panels = [{top: 10, bottom: 210, value: ({widest}) => widest, of: (wave) => wave.vertices, text: (count) => trimmed(large(count)), name: "vertices"}];
  if (timed) {
    panels.push({top: 236, bottom: 356, value: ({longest}) => longest, of: (wave) => wave.time_ns, text: (ns) => trimmed(time(ns)), name: "time"});
  }
  const height = panels.at(-1).bottom + below;
  const each = (width - left - right) / columns.length;
  const picture = drawn("svg", {width, height, role: "img", "aria-label": `Frontiers of ${plural(report.waves.length, "wave")}, at most `
    + `${number(report.summary.widest_vertices)} vertices; the table below has the same in words`});
  for (const panel of panels) {
    const waves = columns.map(panel.value);
    const values = waves.map((wave) => (wave ? Math.max(1, panel.of(wave)) : 1));
    const low = panel.name === "vertices" ? -0.15 : Math.floor(Math.log10(least(values)) - 0.05);
    const high = Math.max(Math.log10(most(values)) + 0.05, low + 1);
    const y = (value) => panel.bottom - (panel.bottom - panel.top) * (Math.log10(value) - low) / (high - low);
    const step = Math.ceil((high - low) / 6);
    for (let power = Math.ceil(low); power <= high; power += step) {
      picture.append(drawn("line", {class: "rule", x1: left, x2: width - right, y1: y(10 ** power), y2: y(10 ** power)}),
        drawn("text", {class: "quiet", x: left - 8, y: y(10 ** power) + 4, "font-size": 11, "text-anchor": "end"}, panel.text(10 ** power)));
    }
    waves.forEach((wave, i) => wave && picture.append(drawn("g", {}, drawn("title", {}, waveText(wave)),
      drawn("rect", {x: left + i * each, y: y(values[i]), width: Math.max(1, each - (each > 3 ? 1 : 0)), height: panel.bottom - y(values[i]),
        fill: topologyColour(wave.topology)}))));
    picture.append(drawn("line", {class: "axis", x1: left, x2: width - right, y1: panel.bottom, y2: panel.bottom}));
  }
  const step = Math.max(1, niceStep(report.waves.length, (width - left) / 80));
  for (let wave = 0; wave < report.waves.length; wave += step) {
    picture.append(drawn("text", {class: "quiet", x: left + (wave + 0.5) * (width - left - right) / report.waves.length, y: height - 10,
      "font-size": 11, "text-anchor": "middle"}, number(wave)));
  }
  picture.append(drawn("text", {class: "quiet", x: 0, y: height - 10, "font-size": 11}, "wave"));
  return picture;
}

function waveText(wave) {
  return `wave ${number(wave.wave)}: ${number(wave.vertices)} vertices, ${number(wave.scanned_edges)} edges scanned, `
    + `${words(wave.topology)} (${words(wave.rule)})${wave.alone ? ", by one work-group" : ""}`
    + (wave.time_ns === undefined ? "" : `, ${time(wave.time_ns)}`);
}

// Runs of waves with the same topology.
function stretches(waves) {
  const found = [];
  for (const wave of waves) {
    if (found.at(-1)?.topology !== wave.topology) {
      found.push({topology: wave.topology, rule: wave.rule, first: wave.wave, widest: 0, scanned: 0, explored: 0, ns: 0});
    }
    const last = found.at(-1);
    last.last = wave.wave;
    last.widest = Math.max(last.widest, wave.vertices);
    last.scanned += wave.scanned_edges;
    last.explored += wave.frontier_edges;
    last.ns += wave.time_ns ?? NaN;
  }
  return found;
}

function showStretches(data) {
  const {waves} = data.report;
  if (waves.length === 0) {
    return;
  }
  const all = stretches(waves);
  const shown = all.slice(0, LIMITS.rows);
  const whole = all.reduce((sum, {ns}) => sum + ns, 0);
  fill(document.getElementById("waves-body"), element("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": "Where the time went"},
    table(["waves", "topology", "rule", "#widest", "#edges scanned", "#time", "#of all waves", "#edges a second"], shown.map((one) => [
      one.first === one.last ? number(one.first) : `${number(one.first)} to ${number(one.last)}`, words(one.topology), words(one.rule),
      number(one.widest), number(one.scanned),
      ...(Number.isNaN(one.ns) ? ["", "", ""] : [time(one.ns), percent(one.ns / Math.max(1, whole)), large(one.explored * 1e9 / Math.max(1, one.ns))])]))),
  firstOf(shown, all));
}

function showParts(data) {
  const {memory} = data.report;
  const parts = memory.parts.map((part, i) => [part.name, part.bytes, COLOURS[i % COLOURS.length]]);
  const box = document.getElementById("memory-body");
  fill(box, element("div", {class: "bar", role: "img", "aria-label": parts.map(([name, size]) => `${name} ${bytes(size)}`).join(", ")},
    parts.map(([, size, colour]) => element("span", {style: `width:${100 * size / memory.bytes}%;background:${colour}`}))),
  legend(parts.map(([name, size, colour]) => [swatch(colour), `${name} ${bytes(size)}`])),
  element("p", {class: "soft small", style: "margin-top:0.7rem"}, figure("memory.bytes", memory.bytes, bytes(memory.bytes)),
    ` is ${percent(memory.bytes / memory.budget_bytes)} of `, figure("memory.budget_bytes", memory.budget_bytes, bytes(memory.budget_bytes)),
    memory.constrained ? "" : `; without queues and transpose it would be ${bytes(memory.constrained_bytes)}`, "."));
}
