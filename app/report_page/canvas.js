// Draws the timeline's view on its canvas: an axis, lanes with their names, spans, arrows of dependencies.

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
  rows.forEach((row) => row.lane && drawStripe(timeline, tool, row));
  context.save();
  context.beginPath();
  context.rect(timeline.gutter, LANE.axis, timeline.width - timeline.gutter, timeline.canvasHeight - LANE.axis);
  context.clip();
  drawGrid(timeline, tool);
  rows.forEach((row) => row.lane && drawLane(timeline, tool, row));
  if (timeline.showArrows) {
    drawArrows(timeline, tool);
  }
  drawUntil(timeline, tool);
  drawPicked(timeline, tool);
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

function drawStripe(timeline, {context, theme, y}, row) {
  if (timeline.picked?.row === row) {
    context.fillStyle = theme.faint;
    context.fillRect(0, y(row.top), timeline.width, row.height);
  }
}

function drawRowName(timeline, {context, theme, font, y}, row) {
  const middle = y(row.top) + row.height / 2 + (row.head ? 3 : 0);
  const name = row.head ?? (timeline.gutter < 100 ? row.lane.name.replace("work-group", "group") : row.lane.name);
  context.fillStyle = row.head ? theme.ink : theme.soft;
  context.font = row.head ? font(12, 600) : font(11.5);
  context.fillText(name, 10, middle);
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

// Five numbers an arrow: report_page.cpp, add_timeline().
function drawArrows(timeline, {context, theme, x, y}) {
  const {arrows, view, rowOfMeasured} = timeline;
  const shown = [];
  for (let at = 0; at < arrows.length && shown.length <= MOST_ARROWS; at += 5) {
    if (arrows[at + 1] < view.to && arrows[at + 3] > view.from) {
      shown.push(at);
    }
  }
  if (shown.length > MOST_ARROWS) {
    return;
  }
  context.strokeStyle = context.fillStyle = theme.ink;
  context.globalAlpha = 0.55;
  for (const at of shown) {
    const [from, to] = [rowOfMeasured[arrows[at]], rowOfMeasured[arrows[at + 2]]];
    const [x1, y1] = [x(arrows[at + 1]), y(from.top) + LANE.height / 2];
    const [x2, y2] = [x(arrows[at + 3]), y(to.top) + LANE.height / 2];
    const bend = Math.max(8, Math.min(40, Math.abs(x2 - x1)));
    context.beginPath();
    context.moveTo(x1, y1);
    context.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2, y2);
    context.stroke();
    context.beginPath();
    context.moveTo(x2, y2);
    context.lineTo(x2 - 6, y2 - 3);
    context.lineTo(x2 - 6, y2 + 3);
    context.fill();
  }
  context.globalAlpha = 1;
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

function drawPicked({picked}, {context, theme, x, y}) {
  if (picked) {
    const {lane, span, row} = picked;
    context.strokeStyle = theme.ink;
    context.lineWidth = 2;
    const left = x(lane.begin[span]);
    context.strokeRect(left, y(row.top) + 1.5, Math.max(3, x(lane.end[span]) - left - 1), row.height - 3);
    context.lineWidth = 1;
  }
}
