// The timeline: a canvas as high as the lanes in sight, that is drawn again for each move. `view` is what is in sight,
// in nanoseconds; everything that moves it goes through look().

const LANE = {height: 20, bar: 15, axis: 24, most: 430};
const SHORTEST_VIEW_NS = 50;

function showTimeline(data) {
  const box = document.getElementById("timeline-body");
  const source = data.timeline;
  const lanes = source === null ? [] : source.lanes.map(decodeLane);
  if (!lanes.some((lane) => lane.count !== 0)) {
    return;
  }
  const timeline = makeTimeline(data, lanes);
  fill(box, introduction(source, lanes, data.report.ranks !== undefined), tools(timeline), frame(timeline), timelineLegend(timeline),
    element("p", {class: "hint"}, "Drag to move; with the timeline in focus the wheel zooms (elsewhere with ", key("Ctrl"),
      "), arrows move, ", key("+"), " ", key("−"), " zoom, ", key("0"), " shows the whole run."));
  listen(timeline);
  drawnToWidth(timeline.scroller, (width) => resize(timeline, width));
}

function key(name) {
  return element("kbd", {}, name);
}

function introduction(source, lanes, ranks) {
  const spans = lanes.reduce((sum, lane) => sum + lane.count, 0);
  const clock = ranks ? "Each rank reads its host's clock, from the moment when all began; it waits for each launch." : source.clock === "none" ? "Launches are timed by their events."
    : `Work-groups read the clock ${source.clock}.`;
  return element("p", {}, figure("timeline.spans", spans, plural(spans, "span")), source.left_out === 0 ? ". " : [", ",
    figure("timeline.left_out", source.left_out, number(source.left_out)), " more had no room (--set tuning.trace-spans=N keeps more). "],
  element("span", {class: "soft"}, clock));
}

function makeTimeline(data, lanes) {
  const rows = [];
  let top = 0;
  for (const lane of lanes.filter((any) => any.count !== 0)) {
    rows.push({lane, top, height: LANE.height});
    top += LANE.height;
  }
  const end = Math.max(1, ...lanes.map((lane) => (lane.count === 0 ? 0 : lane.end[lane.count - 1])));
  const canvas = element("canvas", {id: "lanes", tabindex: 0, role: "application", "aria-roledescription": "timeline",
    "aria-label": "Timeline of the run", "aria-describedby": "range"});
  const {kinds, until_met_ns: untilMet} = data.timeline;
  const named = namedSpans(data);
  return {counted: data.program === null ? "wave" : "iteration", names: named.map((span) => span.name), colours: named.map((span) => span.colour),
    kinds, untilMet, rows, height: top, end, canvas, view: {from: 0, to: end},
    scroller: element("div", {class: "lanes-scroll"}),
    tip: element("div", {class: "tip", "aria-hidden": "true", hidden: true}),
    range: element("output", {class: "range", id: "range", "aria-live": "off"}), width: 0, gutter: 0};
}

// Labels of spans with the colour of their first wave; names of several waves are joined by +. A window's span has the
// names of its waves.
function namedSpans({program, timeline}) {
  if (program === null) {
    return timeline.names.map((name) => ({name: words(name), colour: topologyColour(name)}));
  }
  const wavesOf = new Map(program.waves.map((wave, index) => [wave.text, [index]]));
  program.windows.forEach(({text, waves}) => wavesOf.set(text, waves));
  const nameOf = (text) => wavesOf.get(text)?.map((wave) => program.waves[wave].name).join(", ") ?? text;
  return timeline.names.map((text) => {
    const parts = wavesOf.has(text) ? [text] : text.split(" + ");
    return {name: parts.map(nameOf).join(" + "), colour: COLOURS[program.waves[wavesOf.get(parts[0])?.[0]]?.colour ?? 0]};
  });
}

function tools(timeline) {
  const button = (text, label, action) => {
    const made = element("button", {type: "button", "aria-label": label}, text);
    made.addEventListener("click", action);
    return made;
  };
  return element("div", {class: "tools"},
    button("+", "Zoom in", () => zoom(timeline, 0.5)), button("−", "Zoom out", () => zoom(timeline, 2)),
    button("Whole run", "Show the whole run", () => look(timeline, 0, timeline.end)),
    timeline.range);
}

function frame(timeline) {
  const seen = Math.min(timeline.height + LANE.axis, LANE.most);
  timeline.canvasHeight = seen;
  timeline.scroller.append(timeline.canvas, element("div", {style: `height:${timeline.height + LANE.axis - seen}px`}));
  return element("div", {class: "lanes"}, timeline.scroller, timeline.tip);
}

function timelineLegend(timeline) {
  const {kinds, waves: named} = namesByKind(timeline);
  const waves = [...named].sort((a, b) => a - b);
  const entries = waves.slice(0, 10).map((name) => [swatch(timeline.colours[name]), timeline.names[name]]);
  if (waves.length > 10) {
    entries.push([swatch("transparent"), `and ${waves.length - 10} more`]);
  }
  const other = {wait: "wait", until: "look at until"};
  for (const [kind, text] of Object.entries(other)) {
    if (kinds.has(timeline.kinds.indexOf(kind))) {
      entries.push([swatch(kind === "wait" ? "var(--wait)" : "var(--accent)"), text]);
    }
  }
  return legend(entries);
}

// The kinds that there are, and the names of spans that are waves.
function namesByKind(timeline) {
  const kinds = new Set();
  const waves = new Set();
  for (const {lane} of timeline.rows) {
    for (let i = 0; i < lane.count; ++i) {
      kinds.add(lane.kind[i]);
      if (["work", "launch"].includes(timeline.kinds[lane.kind[i]])) {
        waves.add(lane.title[i]);
      }
    }
  }
  return {kinds, waves};
}

// Moving.

function look(timeline, from, to) {
  const length = Math.min(Math.max(to - from, SHORTEST_VIEW_NS), timeline.end);
  const middle = (from + to) / 2;
  const begin = Math.min(Math.max(middle - length / 2, 0), timeline.end - length);
  timeline.view = {from: begin, to: begin + length};
  draw(timeline);
}

function zoom(timeline, factor, around) {
  const {from, to} = timeline.view;
  const fixed = around ?? (from + to) / 2;
  look(timeline, fixed - (fixed - from) * factor, fixed + (to - fixed) * factor);
}

function pan(timeline, share) {
  const {from, to} = timeline.view;
  const by = (to - from) * share;
  look(timeline, from + by, to + by);
}

const KEYS = {
  "+": (timeline) => zoom(timeline, 0.5),
  "=": (timeline) => zoom(timeline, 0.5),
  "-": (timeline) => zoom(timeline, 2),
  "0": (timeline) => look(timeline, 0, timeline.end),
  ArrowLeft: (timeline) => pan(timeline, -0.25),
  ArrowRight: (timeline) => pan(timeline, 0.25),
  ArrowUp: (timeline) => { timeline.scroller.scrollTop -= LANE.height; },
  ArrowDown: (timeline) => { timeline.scroller.scrollTop += LANE.height; },
};

function listen(timeline) {
  const {canvas, scroller, tip} = timeline;
  canvas.addEventListener("keydown", (event) => {
    const action = event.ctrlKey || event.metaKey || event.altKey ? null : KEYS[event.key];
    if (action) {
      event.preventDefault();
      action(timeline);
    }
  });
  canvas.addEventListener("wheel", (event) => onWheel(timeline, event), {passive: false});
  scroller.addEventListener("scroll", () => draw(timeline), {passive: true});
  let dragged = null;
  canvas.addEventListener("pointerdown", (event) => {
    dragged = {x: event.clientX, view: timeline.view};
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (dragged && event.buttons !== 0) {
      const by = (event.clientX - dragged.x) * nsPerPixel(timeline);
      look(timeline, dragged.view.from - by, dragged.view.to - by);
    }
    hover(timeline, event);
  });
  canvas.addEventListener("pointerup", () => { dragged = null; });
  canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => draw(timeline));
}

function onWheel(timeline, event) {
  const asked = event.ctrlKey || event.metaKey || document.activeElement === timeline.canvas;
  if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
    event.preventDefault();
    pan(timeline, event.deltaX / timeline.width);
  } else if (asked && event.shiftKey) {
    event.preventDefault();
    timeline.scroller.scrollTop += event.deltaY;
  } else if (asked) {
    event.preventDefault();
    zoom(timeline, 2 ** (event.deltaY / 300), momentAt(timeline, event));
  }
}

function nsPerPixel({view, width, gutter}) {
  return (view.to - view.from) / Math.max(1, width - gutter);
}

function momentAt(timeline, event) {
  const {left} = timeline.canvas.getBoundingClientRect();
  return timeline.view.from + (event.clientX - left - timeline.gutter) * nsPerPixel(timeline);
}

// The lane and the spans under the pointer.
function under(timeline, event) {
  const box = timeline.canvas.getBoundingClientRect();
  const y = event.clientY - box.top - LANE.axis + timeline.scroller.scrollTop;
  const row = timeline.rows.find((other) => y >= other.top && y < other.top + other.height);
  if (!row || event.clientY - box.top < LANE.axis || event.clientX - box.left < timeline.gutter) {
    return null;
  }
  const [first, last] = spansAt(row.lane, momentAt(timeline, event), nsPerPixel(timeline) / 2);
  return first === last ? null : {row, first, last};
}

function hover(timeline, event) {
  const found = under(timeline, event);
  const {tip, canvas} = timeline;
  tip.hidden = found === null;
  if (found) {
    const {title, details, when} = spanText(timeline, found.row.lane, found.first);
    const more = found.last - found.first - 1;
    tip.replaceChildren(element("strong", {}, title), element("span", {}, details), element("br"),
      element("span", {class: "soft"}, when),
      more > 0 ? element("span", {class: "soft"}, `; ${more >= 999 ? "many" : more} more here, zoom in`) : "");
    const box = canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    tip.style.left = `${Math.max(0, Math.min(x + 14, box.width - tip.offsetWidth - 4))}px`;
    tip.style.top = `${y + 18}px`;
  }
}

// Spans of a lane in typed arrays, and what is asked of them. Spans of a lane follow one another, so both their begins
// and their ends ascend: a search by halves finds those in sight, however many there are.

const NUMBERS_PER_SPAN = 9; // report_page.cpp, add_spans()

function decodeLane({name, spans}) {
  const count = spans.length / NUMBERS_PER_SPAN;
  const lane = {name, count, kind: new Uint8Array(count), title: new Uint32Array(count),
    begin: new Float64Array(count), end: new Float64Array(count),
    iteration: new Float64Array(count), stage: new Int32Array(count),
    first: new Float64Array(count), step: new Int32Array(count), tiles: new Float64Array(count)};
  let [end, iteration] = [0, 0];
  for (let i = 0, at = 0; i < count; ++i, at += NUMBERS_PER_SPAN) {
    lane.kind[i] = spans[at];
    lane.title[i] = spans[at + 1];
    lane.begin[i] = end + spans[at + 2];
    end = lane.end[i] = lane.begin[i] + spans[at + 3];
    iteration = lane.iteration[i] = iteration + spans[at + 4];
    lane.stage[i] = spans[at + 5];
    lane.first[i] = spans[at + 6];
    lane.step[i] = spans[at + 7];
    lane.tiles[i] = spans[at + 8];
  }
  return lane;
}

// The first span that ends after a moment.
function firstEndingAfter(lane, moment) {
  let [low, high] = [0, lane.count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lane.end[middle] > moment) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// Runs of spans [first, last) that are drawn as one box: those that begin in the same pixel and are narrower than it.
function* runsInSight(lane, from, to, nsPerPixel) {
  let i = firstEndingAfter(lane, from);
  while (i < lane.count && lane.begin[i] < to) {
    let next = i + 1;
    if (lane.end[i] - lane.begin[i] < nsPerPixel) {
      const pixelEnd = from + (Math.floor((lane.begin[i] - from) / nsPerPixel) + 1) * nsPerPixel;
      next = Math.max(next, firstEndingAfter(lane, pixelEnd));
    }
    yield [i, next];
    i = next;
  }
}

// The span to show for a run of spans: the longest of the first few.
function longestOf(lane, first, last) {
  let longest = first;
  for (let i = first; i < Math.min(last, first + 16); ++i) {
    if (lane.end[i] - lane.begin[i] > lane.end[longest] - lane.begin[longest]) {
      longest = i;
    }
  }
  return longest;
}

// The spans at a moment: [first, last), empty between spans.
function spansAt(lane, moment, slack) {
  const first = firstEndingAfter(lane, moment - slack);
  let last = first;
  while (last < lane.count && lane.begin[last] <= moment + slack && last - first < 1000) {
    ++last;
  }
  return [first, last];
}

function tilesText(first, step, tiles) {
  if (tiles === 0) {
    return "";
  }
  const last = first + (tiles - 1) * step;
  const which = tiles === 1 ? `tile ${number(first)}` : `tiles ${number(first)} to ${number(last)}`;
  return tiles === 1 || Math.abs(step) === 1 ? which : `${which} by ${number(Math.abs(step))}, ${number(tiles)} in all`;
}

// A span in words: what, then when.
function spanText({names, kinds, counted}, lane, i) {
  const kind = kinds[lane.kind[i]];
  const title = {wait: `waits in front of stage ${lane.stage[i]}`, until: "looks at until"}[kind] ?? names[lane.title[i]];
  const details = [kind === "iteration" ? "" : `${counted} ${number(lane.iteration[i])}`,
    tilesText(lane.first[i], lane.step[i], lane.tiles[i]), time(lane.end[i] - lane.begin[i])].filter((text) => text !== "");
  return {title, details: details.join(", "), when: `from ${time(lane.begin[i])} to ${time(lane.end[i])}`};
}

// Draws the timeline's view on its canvas: an axis, lanes with their names, spans.

function resize(timeline, width) {
  timeline.width = width;
  timeline.gutter = width < 560 ? 78 : 118;
  draw(timeline);
}

// Everything that drawing needs, once: sizes, colours of the theme, where lanes and moments lie.
function brush(timeline) {
  const {canvas, width, canvasHeight, gutter, view} = timeline;
  const ratio = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(canvasHeight * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(canvasHeight * ratio);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${canvasHeight}px`;
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, canvasHeight);
  context.textBaseline = "middle";
  const style = getComputedStyle(canvas);
  const theme = Object.fromEntries(["card", "ink", "soft", "line", "faint", "accent", "wait", "iteration", "slice"]
    .map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
  const font = style.getPropertyValue("--text");
  const scale = (width - gutter) / (view.to - view.from);
  return {context, theme, font: (size, weight = 400) => `${weight} ${size}px ${font}`,
    x: (ns) => gutter + (ns - view.from) * scale, y: (top) => LANE.axis + top - timeline.scroller.scrollTop};
}

function draw(timeline) {
  if (timeline.width === 0) {
    return;
  }
  const tool = brush(timeline);
  const {context} = tool;
  const rows = timeline.rows.filter((row) =>
    tool.y(row.top) < timeline.canvasHeight && tool.y(row.top) + row.height > LANE.axis);
  context.save();
  context.beginPath();
  context.rect(timeline.gutter, LANE.axis, timeline.width - timeline.gutter, timeline.canvasHeight - LANE.axis);
  context.clip();
  drawGrid(timeline, tool);
  rows.forEach((row) => drawLane(timeline, tool, row));
  drawUntil(timeline, tool);
  context.restore();
  rows.forEach((row) => drawRowName(timeline, tool, row));
  drawAxis(timeline, tool);
  const {from, to} = timeline.view;
  timeline.range.textContent = `${time(from)} to ${time(to)}, ${percent((to - from) / timeline.end)} of the run`;
  timeline.range.dataset.from = from;
  timeline.range.dataset.to = to;
}

function ticks({view, width, gutter}) {
  const step = niceStep(view.to - view.from, (width - gutter) / 110);
  const first = Math.ceil(view.from / step - 1e-9);
  const count = Math.max(0, Math.floor(view.to / step + 1e-9) - first + 1);
  return {step, moments: Array.from({length: count}, (_, i) => (first + i) * step)};
}

function drawGrid(timeline, {context, theme, x}) {
  context.fillStyle = theme.line;
  for (const moment of ticks(timeline).moments) {
    context.fillRect(Math.round(x(moment)), LANE.axis, 1, timeline.canvasHeight);
  }
}

function drawAxis(timeline, {context, theme, font, x}) {
  const {width, gutter} = timeline;
  context.fillStyle = theme.card;
  context.fillRect(0, 0, width, LANE.axis);
  context.fillStyle = theme.line;
  context.fillRect(0, LANE.axis - 1, width, 1);
  context.fillStyle = theme.soft;
  context.font = font(11);
  const {step, moments} = ticks(timeline);
  for (const moment of moments) {
    const text = timeOnAxis(moment, step, timeline.view.to);
    const half = context.measureText(text).width / 2;
    context.fillText(text, Math.min(Math.max(x(moment) - half, gutter), width - 2 * half - 4), LANE.axis / 2);
  }
}

function drawRowName(timeline, {context, theme, font, y}, row) {
  context.fillStyle = theme.soft;
  context.font = font(11.5);
  context.fillText(timeline.gutter < 100 ? row.lane.name.replace("work-group", "group") : row.lane.name, 10, y(row.top) + row.height / 2);
}

function fillOfSpan(timeline, theme, lane, i) {
  switch (timeline.kinds[lane.kind[i]]) {
  case "wait": return theme.wait;
  case "until": return theme.accent;
  case "slice": return theme.slice;
  case "iteration": return lane.iteration[i] % 2 === 0 ? theme.iteration : theme.wait;
  default: return timeline.colours[lane.title[i]];
  }
}

function labelOfSpan(timeline, lane, i) {
  switch (timeline.kinds[lane.kind[i]]) {
  case "wait":
  case "until": return "";
  case "iteration": return String(lane.iteration[i]);
  default: return visible(timeline.names[lane.title[i]]);
  }
}

function drawLane(timeline, {context, theme, font, x, y}, row) {
  const {lane} = row;
  const top = y(row.top) + (row.height - LANE.bar) / 2;
  const {from, to} = timeline.view;
  context.font = font(11);
  for (const [first, last] of runsInSight(lane, from, to, nsPerPixel(timeline))) {
    const seen = longestOf(lane, first, last);
    const left = Math.max(x(lane.begin[first]), timeline.gutter - 4);
    const right = Math.min(x(lane.end[last - 1]), timeline.width + 4);
    const wide = right - left;
    context.fillStyle = fillOfSpan(timeline, theme, lane, seen);
    if (wide > 4) {
      context.fillRect(left, top, wide - 1, LANE.bar); // a gap to the next
    } else {
      context.fillRect(Math.floor(left), top, Math.max(wide, 1), LANE.bar);
    }
    if (wide > 26 && last - first === 1) {
      drawLabel(timeline, context, theme, lane, first, left, wide, top + LANE.bar / 2 + 0.5);
    }
  }
}

function drawLabel(timeline, context, theme, lane, i, left, wide, middle) {
  const neutral = ["slice", "iteration"].includes(timeline.kinds[lane.kind[i]]);
  const text = labelOfSpan(timeline, lane, i);
  const fitting = context.measureText(text).width <= wide - 10 ? text : shortened(text, Math.floor((wide - 10) / 6.5));
  if (fitting.length > 1 || fitting === text) {
    context.fillStyle = neutral ? theme.ink : "#0c1116"; // dark on every colour, which are of a middling lightness
    context.fillText(fitting, left + 5, middle);
  }
}

function drawUntil({untilMet, canvasHeight, gutter}, {context, theme, font, x}) {
  if (untilMet === null) {
    return;
  }
  const at = Math.round(x(untilMet)) - 1;
  context.fillStyle = theme.accent;
  context.fillRect(at, LANE.axis, 2, canvasHeight);
  context.font = font(11, 600);
  const width = context.measureText("until is met").width;
  context.fillText("until is met", at - width - 6 > gutter ? at - width - 6 : at + 6, LANE.axis + 13);
}
