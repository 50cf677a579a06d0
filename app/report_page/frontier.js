// The frontier of a graph program wave by wave, and its memory.

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
