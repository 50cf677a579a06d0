// Spans of a lane in typed arrays, and what is asked of them. Spans of a lane follow one another, so both their begins
// and their ends ascend: a search by halves finds those in sight, however many there are.

const NUMBERS_PER_SPAN = 9; // report_page.cpp, add_spans()

function decodeLane({name, spans}, measured) {
  const count = spans.length / NUMBERS_PER_SPAN;
  const lane = {name, measured, count, kind: new Uint8Array(count), title: new Uint32Array(count),
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

// Which of a run is seen: the longest of the first few.
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

function nearestSpan(lane, moment) {
  return Math.min(firstEndingAfter(lane, moment), lane.count - 1);
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
function spanText(names, kinds, lane, i) {
  const kind = kinds[lane.kind[i]];
  const title = {wait: `waits in front of stage ${lane.stage[i]}`, until: "looks at until"}[kind] ?? names[lane.title[i]];
  const details = [kind === "iteration" ? "" : `iteration ${number(lane.iteration[i])}`,
    tilesText(lane.first[i], lane.step[i], lane.tiles[i]), time(lane.end[i] - lane.begin[i])].filter((text) => text !== "");
  return {title, details: details.join(", "), when: `from ${time(lane.begin[i])} to ${time(lane.end[i])}`};
}
