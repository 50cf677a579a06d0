// The timeline: a canvas as high as the lanes in sight, that is drawn anew for each move. `view` is what is in sight,
// in nanoseconds; everything that moves it goes through look().

const LANE = {height: 20, bar: 15, head: 26, axis: 24, most: 430};
const SHORTEST_VIEW_NS = 50;
const MOST_ARROWS = 80; // more cannot be told apart

function showTimeline(data) {
  const box = document.getElementById("timeline-body");
  const source = data.timeline;
  const lanes = source === null ? [] : [...source.measured.map((lane) => decodeLane(lane, true)),
    ...source.planned.map((lane) => decodeLane(lane, false))];
  if (!lanes.some((lane) => lane.count !== 0)) {
    const planned = data.report.status === "planned";
    fill(box, element("p", {class: "soft"}, planned ? "Nothing was run." : "There is no timeline of this run."));
    return;
  }
  const timeline = makeTimeline(data, lanes);
  fill(box, introduction(source, lanes), tools(timeline), frame(timeline), timeline.output, timelineLegend(timeline),
    element("p", {class: "hint"}, "Drag to move; with the timeline in focus the wheel zooms (elsewhere with ", key("Ctrl"),
      "), arrows go from span to span and lane to lane, ", key("+"), " ", key("−"), " zoom, ", key("Enter"),
      " zooms to the span, ", key("Shift"), " and arrows move, ", key("0"), " shows the whole run."));
  listen(timeline);
  drawnToWidth(timeline.scroller, (width) => resize(timeline, width));
}

function key(name) {
  return element("kbd", {}, name);
}

function introduction(source, lanes) {
  const spans = lanes.filter((lane) => lane.measured).reduce((sum, lane) => sum + lane.count, 0);
  const clock = source.clock === "none" ? "The device has no clock that kernels can read: launches are what is known."
    : `Work-groups read the clock ${source.clock}; planned lanes are the same tasks at mean times.`;
  return element("p", {}, figure("timeline.spans", spans, plural(spans, "span")), source.left_out === 0 ? ". " : [", ",
    figure("timeline.left_out", source.left_out, number(source.left_out)), " more had no room (--set trace-spans=N keeps more). "],
  element("span", {class: "soft"}, clock));
}

function makeTimeline(data, lanes) {
  const rows = [];
  let top = 0;
  for (const measured of [true, false]) {
    const part = lanes.filter((lane) => lane.measured === measured && lane.count !== 0);
    if (part.length !== 0) {
      rows.push({head: measured ? "measured" : "planned", top, height: LANE.head});
      top += LANE.head;
    }
    for (const lane of part) {
      rows.push({lane, top, height: LANE.height});
      top += LANE.height;
    }
  }
  const end = Math.max(1, ...lanes.map((lane) => (lane.count === 0 ? 0 : lane.end[lane.count - 1])));
  const canvas = element("canvas", {id: "lanes", tabindex: 0, role: "application", "aria-roledescription": "timeline",
    "aria-label": "Timeline of the run", "aria-describedby": "selected"});
  const {kinds, until_met_ns: untilMet, arrows, measured: source} = data.timeline;
  const named = namedSpans(data);
  return {names: named.map((span) => span.name), colours: named.map((span) => span.colour),
    kinds, untilMet, arrows, rows, height: top, end, canvas, view: {from: 0, to: end},
    rowOfMeasured: source.map((_, index) => rows.find((row) => row.lane === lanes[index])),
    scroller: element("div", {class: "lanes-scroll"}),
    tip: element("div", {class: "tip", "aria-hidden": "true", hidden: true}),
    range: element("output", {class: "range", id: "range", "aria-live": "off"}),
    output: element("output", {id: "selected", class: "soft", "aria-live": "polite"}),
    showArrows: true, picked: null, width: 0, gutter: 0};
}

// Labels of spans with the colour of their first wave; names of several waves are joined by +. A window's span has the
// names of its waves.
function namedSpans({program, timeline, colours}) {
  const wavesOf = new Map(program.waves.map((wave, index) => [wave.text, [index]]));
  program.windows.forEach(({text, waves}) => wavesOf.set(text, waves));
  const nameOf = (text) => wavesOf.get(text)?.map((wave) => program.waves[wave].name).join(", ") ?? text;
  return timeline.names.map((text) => {
    const parts = wavesOf.has(text) ? [text] : text.split(" + ");
    return {name: parts.map(nameOf).join(" + "), colour: colours[wavesOf.get(parts[0])?.[0]] ?? COLOURS[0]};
  });
}

function tools(timeline) {
  const button = (text, label, action) => {
    const made = element("button", {type: "button", "aria-label": label}, text);
    made.addEventListener("click", action);
    return made;
  };
  const arrows = element("input", {type: "checkbox", checked: true});
  arrows.addEventListener("change", () => {
    timeline.showArrows = arrows.checked;
    draw(timeline);
  });
  return element("div", {class: "tools"},
    button("+", "Zoom in", () => zoom(timeline, 0.5)), button("−", "Zoom out", () => zoom(timeline, 2)),
    button("Whole run", "Show the whole run", () => look(timeline, 0, timeline.end)),
    timeline.arrows.length === 0 ? null : element("label", {}, arrows, "dependencies"), timeline.range);
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
  for (const {lane} of timeline.rows.filter((row) => row.lane)) {
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
  const fixed = around ?? pickedMoment(timeline) ?? (from + to) / 2;
  look(timeline, fixed - (fixed - from) * factor, fixed + (to - fixed) * factor);
}

function pan(timeline, share) {
  const {from, to} = timeline.view;
  const by = (to - from) * share;
  look(timeline, from + by, to + by);
}

function pickedMoment({picked, view}) {
  if (!picked) {
    return null;
  }
  const middle = (picked.lane.begin[picked.span] + picked.lane.end[picked.span]) / 2;
  return middle >= view.from && middle <= view.to ? middle : null;
}

function pick(timeline, row, span) {
  timeline.picked = {row, lane: row.lane, span};
  const {title, details, when} = spanText(timeline.names, timeline.kinds, row.lane, span);
  timeline.output.replaceChildren(
    element("strong", {}, `${row.lane.name}${row.lane.measured ? "" : ", planned"}: `),
    visible(`${title}; ${details}, ${when}`));
  const {scroller} = timeline;
  const room = timeline.canvasHeight - LANE.axis;
  scroller.scrollTop = Math.min(Math.max(scroller.scrollTop, row.top + row.height - room), row.top);
  const {from, to} = timeline.view;
  const [begin, end] = [row.lane.begin[span], row.lane.end[span]];
  if (end <= from || begin >= to) {
    const half = (to - from) / 2;
    look(timeline, (begin + end) / 2 - half, (begin + end) / 2 + half);
  } else {
    draw(timeline);
  }
}

function pickBeside(timeline, lanes, spans) {
  const rows = timeline.rows.filter((row) => row.lane);
  const {picked} = timeline;
  if (!picked) {
    pick(timeline, rows[0], nearestSpan(rows[0].lane, timeline.view.from));
    return;
  }
  const row = rows[Math.min(Math.max(rows.indexOf(picked.row) + lanes, 0), rows.length - 1)];
  const span = lanes === 0 ? Math.min(Math.max(picked.span + spans, 0), row.lane.count - 1)
    : nearestSpan(row.lane, (picked.lane.begin[picked.span] + picked.lane.end[picked.span]) / 2);
  pick(timeline, row, span);
}

function zoomToPicked(timeline) {
  if (timeline.picked) {
    const {lane, span} = timeline.picked;
    const length = lane.end[span] - lane.begin[span];
    look(timeline, lane.begin[span] - length, lane.end[span] + length);
  }
}

function unpick(timeline) {
  timeline.picked = null;
  timeline.output.replaceChildren();
  draw(timeline);
}

const KEYS = {
  "+": (timeline) => zoom(timeline, 0.5),
  "=": (timeline) => zoom(timeline, 0.5),
  "-": (timeline) => zoom(timeline, 2),
  "0": (timeline) => look(timeline, 0, timeline.end),
  Home: (timeline) => look(timeline, 0, timeline.end),
  ArrowLeft: (timeline, shift) => (shift ? pan(timeline, -0.25) : pickBeside(timeline, 0, -1)),
  ArrowRight: (timeline, shift) => (shift ? pan(timeline, 0.25) : pickBeside(timeline, 0, 1)),
  ArrowUp: (timeline) => pickBeside(timeline, -1, 0),
  ArrowDown: (timeline) => pickBeside(timeline, 1, 0),
  Enter: (timeline) => zoomToPicked(timeline),
  Escape: (timeline) => unpick(timeline),
};

function listen(timeline) {
  const {canvas, scroller, tip} = timeline;
  canvas.addEventListener("keydown", (event) => {
    const action = event.ctrlKey || event.metaKey || event.altKey ? null : KEYS[event.key];
    if (action) {
      event.preventDefault();
      action(timeline, event.shiftKey);
    }
  });
  canvas.addEventListener("wheel", (event) => onWheel(timeline, event), {passive: false});
  scroller.addEventListener("scroll", () => draw(timeline), {passive: true});
  let dragged = null;
  canvas.addEventListener("pointerdown", (event) => {
    dragged = {x: event.clientX, view: timeline.view, moved: false};
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (dragged && event.buttons !== 0) {
      const by = (event.clientX - dragged.x) * nsPerPixel(timeline);
      dragged.moved ||= Math.abs(event.clientX - dragged.x) > 3;
      look(timeline, dragged.view.from - by, dragged.view.to - by);
    }
    hover(timeline, event);
  });
  canvas.addEventListener("pointerup", (event) => {
    const found = dragged && !dragged.moved ? under(timeline, event) : null;
    dragged = null;
    if (found) {
      pick(timeline, found.row, found.first);
    }
  });
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
  const row = timeline.rows.find((other) => other.lane && y >= other.top && y < other.top + other.height);
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
    const {title, details, when} = spanText(timeline.names, timeline.kinds, found.row.lane, found.first);
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
