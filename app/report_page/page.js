// The page in words and numbers, below the pictures that the tool has drawn; the last lines show all parts.

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
  showTitle(data);
  fill(document.getElementById("lead"), `${data.headline}${data.report.device ? ` on ${data.report.device.name}` : ""}.`);
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

// The numbers that a reader looks for first: a name, the place in the report, a form.
const FIGURES = [["Times as fast", "comparison.speedup", digits], ["Reached", "answer.reached", number], ["Components", "answer.components", number],
  ["Dispatch", "backend_dispatch_ns", time], ["Items", "items_processed", number], ["Widest frontier", "summary.widest_vertices", number],
  ["Arena", "memory.arena_bytes", bytes], ["Memory", "memory.bytes", bytes], ["Wall time", "wall_time_ns", time]];

function showFigures({report}) {
  const known = FIGURES.map(([name, field, form]) => [name, field, form, field.split(".").reduce((inner, key) => inner?.[key], report)]);
  document.getElementById("figures").replaceChildren(...known.filter(([, , , value]) => value).map(([name, field, form, value]) =>
    element("dl", {style: "margin:0"}, element("dt", {}, name), element("dd", {class: "value"}, figure(field, value, form(value))))));
}

const TIMES = [["planning", "queue_plan_ns"], ["reading the graph", "load_ns"], ["building kernels", "build_ns"], ["filling memory", "queue_publish_ns"],
  ["dispatch", "backend_dispatch_ns"], ["reading back", "read_back_ns"], ["checking", "verify_ns"]];

// The rows of the table that terminals show, and how the wall time divides.
function showHow({report, rows}) {
  const box = document.getElementById("how-body");
  fill(box, facts(rows.map(([name, text]) => [name.trim(), text])));
  if (report.telemetry.kernel_launches !== 0) {
    showWallTime(report, box, TIMES.filter(([, field]) => field in report).map((part, i) => [...part, COLOURS[i]]));
  }
}

// The report's times, each with a name and a colour.
function showWallTime(report, box, times) {
  const parts = times.map(([name, field, colour]) => [name, field, report[field], colour]);
  if (report.first_run?.elapsed_ns && !("verify_ns" in report)) {
    parts.push(["first run", "first_run.elapsed_ns", report.first_run.elapsed_ns, "var(--wait)"]);
  }
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
  fill(box, element("p", {}, data.rows.find(([name]) => name.trim() === "compared")?.[1]), chart,
    table(["", "#min", "#median", "#max"], rows.map(([name, way, rounds, middle]) => [name,
      figure(`comparison.${way}_rounds_ns.min`, least(rounds), time(least(rounds))),
      figure(`comparison.${way}_ns`, middle, time(middle)),
      figure(`comparison.${way}_rounds_ns.max`, most(rounds), time(most(rounds)))])));
  drawnToWidth(chart, (width) => chart.replaceChildren(spreadChart(rows, width)));
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

function showWaves({waves: [heads, ...rows]}) {
  if (heads) {
    fill(document.getElementById("waves-body"), element("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": "Where the time went"},
      table(heads.map((head, i) => (i !== 0 && /^\s*[\d-]/.test(rows[0][i]) ? "#" : "") + head.trim()), rows.map((row) => row.map((cell) => cell.trim())))));
  }
}

function showPolicy(data) {
  const {report, program} = data;
  const {complete, topology, promotion} = report.evidence;
  const launch = report.recommendation;
  fill(document.getElementById("policy-body"),
    element("p", {style: "margin:0"}, element("strong", {}, launch.topology), ` in ${launch.execution_mode} mode, `
      + `${plural(launch.geometry.dispatch_grid[0], "work-group")} of ${launch.geometry.workgroup_size_x}, queue ${launch.pressure}`,
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

// Writes waves and buffers in words, below the pictures of the plan and of the arena, and the memory next to the budget.

const MOST_ROWS = 500;
const OUTSIDE_THE_ARENA = {image: "an image", registers: "in registers"};

function showPlan({program, report}) {
  const {groups} = report.plan.barriers;
  const groupOf = new Map(groups.flatMap((group, index) => group.waves.map((wave) => [wave, index])));
  const after = gathered(program.dependencies.map(([first, then]) => [then, first]));
  const order = groups.flatMap((group) => group.waves).slice(0, MOST_ROWS);
  const names = (waves) => waves.slice(0, 6).map((wave) => program.waves[wave].name).join(", ")
    + (waves.length > 6 ? ` and ${waves.length - 6} more` : "");
  fill(document.getElementById("plan-body"), element("p", {class: "soft small"},
    program.derived ? "Dependencies follow from what the kernels read and write." : "Dependencies are those that the program lists."),
  element("details", {}, element("summary", {}, "Waves in words"),
    element("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": "Waves in words"},
      table(["wave", "op", "#tiles", "#group", "waits for"], order.map((wave) => {
        const {name, op, tiles} = program.waves[wave];
        return [quoted(name), quoted(op), number(tiles), number(groupOf.get(wave)), names(after.get(wave) ?? [])];
      }))),
    firstOf(order, program.waves)));
}

function showMemory({report: {memory}, program}) {
  const box = document.getElementById("memory-body");
  fill(box, element("p", {class: "soft small"}, "Arena ", figure("memory.arena_bytes", memory.arena_bytes, bytes(memory.arena_bytes)),
    memory.image_bytes === 0 ? "" : [", images ", figure("memory.image_bytes", memory.image_bytes, bytes(memory.image_bytes))],
    ", tables ", figure("memory.table_bytes", memory.table_bytes, bytes(memory.table_bytes)), "."));
  if (program.budget_bytes !== 0) {
    showBudget(program, memory.arena_bytes + memory.table_bytes + memory.image_bytes, box);
  }
  if (program.buffers.length !== 0) {
    fill(box, buffersTable(program));
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

function aliveText({lower, upper}) {
  return upper - lower === 1 ? `in group ${lower}` : `in groups ${lower} to ${upper - 1}`;
}

function buffersTable(program) {
  const shown = program.buffers.slice(0, MOST_ROWS);
  return element("details", {}, element("summary", {}, "Buffers in words"),
    element("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": "Buffers in words"},
      table(["buffer", "#bytes", "#offset", "alive"], shown.map((buffer) => [quoted(buffer.name), number(buffer.bytes),
        OUTSIDE_THE_ARENA[buffer.place] ?? number(buffer.offset), aliveText(buffer)]))),
    firstOf(shown, program.buffers));
}

// A part that cannot be drawn says so; the other parts still appear.
window.addEventListener("error", (event) => {
  const failure = document.getElementById("failure");
  failure.textContent = `A part of this page could not be drawn: ${event.message}`;
  failure.hidden = false;
});

{
  const data = JSON.parse(document.getElementById("data").textContent);
  const kind = data.program === null ? [showFrontier, showParts] : [showPlan, showMemory, showPolicy];
  for (const show of [showHeader, showNotices, showFigures, showHow, showSpeed, showTimeline, showWaves, ...kind, showAgain]) {
    try {
      show(data);
    } catch (error) {
      reportError(error);
    }
  }
  document.getElementById("search").placeholder = data.program === null ? "a wave, a topology" : "a wave, a buffer, an op";
  document.getElementById("search").addEventListener("input", (event) => search(event.target.value.trim().toLowerCase()));
  for (const section of document.querySelectorAll("main section")) {
    section.hidden = section.querySelector("h2 + div").childElementCount === 0;
  }
}

// Rows of tables without the text go, parts of pictures without it in their title fade; tables with a match open.
function search(text) {
  const main = document.querySelector("main");
  const parts = ["waves", "plan", "memory", "frontier"].flatMap((part) =>
    [...document.getElementById(`${part}-body`).querySelectorAll("tbody tr, svg g:has(> title)")]);
  main.classList.toggle("searched", text !== "");
  let found = 0;
  for (const part of parts) {
    const matches = part.textContent.toLowerCase().includes(text);
    part.classList.toggle("missed", !matches);
    if (text !== "" && matches && part.localName === "tr") {
      found += 1;
      part.closest("details")?.setAttribute("open", "");
    }
  }
  document.getElementById("matches").textContent = text === "" ? "" : found === 0 ? "nothing found" : `${plural(found, "row")} of tables`;
}
