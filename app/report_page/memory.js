// Device memory over the groups of the plan: where each buffer lies and when it lives, what is live in all, and how
// that compares with the budget.

const MOST_BUFFERS = 1500;
const OUTSIDE_THE_ARENA = {image: "an image", registers: "in registers"};

// Bytes that are live in each group.
function liveBytes(buffers, groups) {
  const change = new Float64Array(groups + 1);
  for (const buffer of buffers) {
    change[buffer.lower] += buffer.bytes;
    change[Math.min(buffer.upper, groups)] -= buffer.bytes;
  }
  let live = 0;
  return Array.from({length: groups}, (_, group) => (live += change[group]));
}

function showMemory(data) {
  const {report, program} = data;
  const {arena_bytes: arena, sum_bytes: sum, table_bytes: tables, image_bytes: images} = report.memory;
  const box = document.getElementById("memory-body");
  const groups = Math.max(report.plan.barriers.groups.length, 1);
  const buffers = program.buffers.filter((buffer) => buffer.place === "arena");
  const live = liveBytes(buffers, groups);
  const taken = arena + tables + images;
  fill(box, element("p", {}, "An arena of ", figure("memory.arena_bytes", arena, bytes(arena)),
    report.memory.optimal ? ", proved to be the least" : `, at least ${bytes(report.memory.lower_bound_bytes)}`,
    sum > arena ? [" (", figure("memory.sum_bytes", sum, bytes(sum)), " without sharing)"] : "",
    images !== 0 ? [", images of ", figure("memory.image_bytes", images, bytes(images))] : "",
    ", tables of ", figure("memory.table_bytes", tables, bytes(tables)), "."));
  if (program.budget_bytes !== 0) {
    showBudget(program, taken, box);
  }
  if (buffers.length !== 0 && arena !== 0) {
    const chart = element("div", {style: "margin-top:1rem"});
    fill(box, chart, memoryLegend(program, arena),
      buffers.length <= MOST_BUFFERS ? null
        : element("p", {class: "hint"}, `The ${MOST_BUFFERS} largest of ${number(buffers.length)} buffers are drawn.`),
      buffersTable(program));
    drawnToWidth(chart, (width) => chart.replaceChildren(arenaChart(data, buffers, live, width)));
  }
}

function showBudget(program, taken, box) {
  const share = taken / program.budget_bytes;
  fill(box, element("div", {class: "bar", role: "img", "aria-label": `${percent(share)} of the budget`},
    element("span", {style: `width:${Math.min(100, share * 100)}%;background:${COLOURS[0]}`})),
  element("p", {class: "soft small"}, figure("memory.taken", taken, bytes(taken)), ` is ${percent(share)} of the budget of `,
    figure("budget", program.budget_bytes, bytes(program.budget_bytes)),
    program.budget_given ? ", which the program gives." : ", which is what the device has."));
}

function budgetInSight(program, arena) {
  return program.budget_bytes !== 0 && program.budget_bytes <= 2 * arena;
}

function memoryLegend(program, arena) {
  const line = (colour, dashed) =>
    element("span", {class: dashed ? "line-swatch dashed" : "line-swatch", style: `color:${colour}`});
  return legend([[line("var(--ink)", false), "bytes live"], [line("var(--soft)", true), "arena"],
    ...(budgetInSight(program, arena) ? [[line("var(--bad)", true), "budget"]] : [])]);
}

// Groups from left to right, addresses from the bottom up.
function arenaChart(data, buffers, live, width) {
  const {program, report} = data;
  const arena = report.memory.arena_bytes;
  const [left, right, above, below, height] = [66, 8, 8, 30, 260];
  const top = budgetInSight(program, arena) ? Math.max(arena, program.budget_bytes) : arena;
  const x = (group) => left + (width - left - right) * group / live.length;
  const y = (address) => height - below - (height - above - below) * address / top;
  const picture = drawn("svg", {width, height, role: "img",
    "aria-label": `Bytes live over ${plural(live.length, "group")}: at most ${bytes(most(live))}; `
    + "the table below has every buffer"});
  drawBuffers(picture, buffers, x, y);
  const level = (address, dash, colour) => drawn("line", {x1: left, x2: width - right, y1: y(address), y2: y(address),
    stroke: colour, "stroke-width": 1.5, "stroke-dasharray": dash});
  picture.append(level(arena, "5 4", "var(--soft)"), level(0, "none", "var(--soft)"));
  if (budgetInSight(program, arena)) {
    picture.append(level(program.budget_bytes, "5 4", "var(--bad)"));
  }
  picture.append(drawn("path", {fill: "none", stroke: "var(--ink)", "stroke-width": 2, "stroke-linejoin": "round",
    d: live.map((count, group) => `${group === 0 ? "M" : "L"}${x(group)} ${y(count)} H${x(group + 1)}`).join(" ")}));
  const unit = 1024 ** Math.floor(Math.log2(top) / 10); // round numbers of this many bytes
  const step = Math.max(1, niceStep(top / unit, 4) * unit);
  for (let address = 0; address <= top; address += step) {
    picture.append(drawn("text", {class: "quiet", x: left - 8, y: y(address) + 4, "font-size": 11, "text-anchor": "end"}, bytes(address)));
  }
  drawGroupAxis(picture, live.length, x, height - below);
  return picture;
}

function drawBuffers(picture, buffers, x, y) {
  const shown = [...buffers.entries()].sort(([, a], [, b]) => b.bytes - a.bytes).slice(0, MOST_BUFFERS);
  for (const [index, buffer] of shown) {
    const [x1, x2, y1, y2] = [x(buffer.lower), x(buffer.upper), y(buffer.offset + buffer.bytes), y(buffer.offset)];
    const colour = COLOURS[index % COLOURS.length];
    const what = `${buffer.name}: ${bytes(buffer.bytes)} at ${number(buffer.offset)}, ${aliveText(buffer)}`;
    picture.append(drawn("g", {}, drawn("title", {}, what),
      drawn("rect", {x: x1 + 0.5, y: y1, width: Math.max(0.5, x2 - x1 - 1), height: Math.max(0.5, y2 - y1 - 1),
        fill: colour, "fill-opacity": 0.3, stroke: colour, "stroke-opacity": 0.8, "stroke-width": 1}),
      y2 - y1 >= 16 && x2 - x1 >= 60 ? drawn("text", {x: x1 + 8, y: (y1 + y2) / 2 + 4, "font-size": 11.5},
        shortened(buffer.name, Math.floor((x2 - x1 - 12) / 7.5))) : null));
  }
}

function drawGroupAxis(picture, groups, x, y) {
  const step = Math.max(1, niceStep(groups, Math.max(1, (x(groups) - x(0)) / 60)));
  const first = groups === 1 ? "group 0" : "0";
  for (let group = 0; group < groups; group += step) {
    const middle = (x(group) + x(group + 1)) / 2;
    picture.append(drawn("text", {class: "quiet", x: middle, y: y + 18, "font-size": 11, "text-anchor": "middle"},
      group === 0 ? first : number(group)));
  }
  if (groups > 1) {
    picture.append(drawn("text", {class: "quiet", x: x(0) - 8, y: y + 18, "font-size": 11, "text-anchor": "end"}, "group"));
  }
}

function aliveText({lower, upper}) {
  return upper - lower === 1 ? `in group ${lower}` : `in groups ${lower} to ${upper - 1}`;
}

function buffersTable(program) {
  const shown = program.buffers.slice(0, LIMITS.rows);
  return element("details", {}, element("summary", {}, "Buffers in words"),
    element("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": "Buffers in words"},
      table(["buffer", "#bytes", "#offset", "alive"], shown.map((buffer) => [quoted(buffer.name), number(buffer.bytes),
        OUTSIDE_THE_ARENA[buffer.place] ?? number(buffer.offset), aliveText(buffer)]))),
    firstOf(shown, program.buffers));
}
