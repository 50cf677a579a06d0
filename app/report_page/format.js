// Text, numbers and elements. Whatever the data holds becomes text, never markup.

const COLOURS = ["#4a90c9", "#cf7a22", "#3f9e5d", "#cc5f95", "#8a70d6", "#a98a12", "#2a9d9d", "#a8744f"];

// Control characters and marks that turn the direction of writing are shown, not obeyed.
function visible(text) {
  return String(text).replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
    (mark) => "\\u" + mark.codePointAt(0).toString(16).padStart(4, "0"));
}

function furnish(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) {
      node.setAttribute(name, visible(value === true ? "" : value));
    }
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined)
    .map((child) => (child instanceof Node ? child : visible(child))));
  return node;
}

function element(tag, attributes = {}, ...children) {
  return furnish(document.createElement(tag), attributes, children);
}

function drawn(tag, attributes = {}, ...children) {
  return furnish(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

// A number of the report as people read it; its value and its place in the report stay with it.
function figure(field, value, shown) {
  return element("data", {value, "data-field": field}, shown);
}

function quoted(name) {
  return element("bdi", {class: "name"}, name);
}

function shortened(text, most) {
  const letters = [...visible(text)];
  return letters.length <= most ? letters.join("") : letters.slice(0, most - 1).join("") + "…";
}

function plural(count, noun) {
  return `${number(count)} ${noun}${count === 1 ? "" : "s"}`;
}

function number(value) {
  return value.toLocaleString("en-US", {maximumFractionDigits: 2});
}

// Three digits that count, and as many of a value below 1.
function digits(value) {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value >= 1 || value === 0 ? value.toFixed(2)
    : String(Number(value.toPrecision(3)));
}

const TIME_UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];

function time(ns) {
  if (ns === 0) {
    return "0";
  }
  const [unit, name] = TIME_UNITS.find(([size]) => ns >= size) ?? [1, "ns"];
  return unit === 1 ? `${Math.round(ns)} ns` : `${digits(ns / unit)} ${name}`;
}

// A time on an axis with so long steps that ends there.
function timeOnAxis(ns, step, end) {
  const [unit, name] = TIME_UNITS.find(([size]) => end >= size) ?? [1, "ns"];
  return `${(ns / unit).toFixed(Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-9)))} ${name}`;
}

function bytes(count) {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
  const power = count < 1024 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(count) / 10));
  const value = count / 1024 ** power;
  return `${Number.isInteger(value) ? value : digits(value)} ${units[power]}`;
}

function percent(share) {
  const value = share * 100;
  return value !== 0 && value < 0.01 ? "less than 0.01 %" : `${Number(value.toPrecision(3))} %`;
}

// Works for lists of any length.
function least(values) {
  return values.reduce((a, b) => Math.min(a, b), Infinity);
}

function most(values) {
  return values.reduce((a, b) => Math.max(a, b), -Infinity);
}

// The lists of values that share a key.
function gathered(pairs) {
  const lists = new Map();
  for (const [key, value] of pairs) {
    const list = lists.get(key);
    if (list) {
      list.push(value);
    } else {
      lists.set(key, [value]);
    }
  }
  return lists;
}

// A step of 1, 2 or 5 times a power of ten, which fits about `about` times.
function niceStep(length, about) {
  const rough = length / Math.max(about, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * [1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999);
}

// Appends to a box what is there.
function fill(box, ...children) {
  furnish(box, {}, children);
}

// Names, values and explanations, without those that are not there.
function facts(rows) {
  return element("dl", {class: "facts"},
    rows.filter((row) => row).map(([name, ...value]) => [element("dt", {}, name), element("dd", {}, value)]).flat());
}

function table(heads, rows, attributes = {}) {
  const cell = (tag) => (value, column) => element(tag, heads[column]?.startsWith("#") ? {class: "number"} : {}, value);
  return element("table", attributes,
    element("thead", {}, element("tr", {}, heads.map((head, column) =>
      element("th", {scope: "col", class: head.startsWith("#") ? "number" : null}, heads[column].replace("#", ""))))),
    element("tbody", {}, rows.map((row) => element("tr", {}, row.map((value, column) =>
      (column === 0 ? element("th", {scope: "row"}, value) : cell("td")(value, column)))))));
}

// Says so where a list shows only the first of all.
function firstOf(shown, all) {
  return shown.length === all.length ? null
    : element("p", {class: "soft small"}, `The first ${number(shown.length)} of ${number(all.length)}.`);
}

function legend(entries) {
  return element("ul", {class: "legend"}, entries.map(([mark, ...text]) =>
    element("li", {}, mark, element("span", {}, text))));
}

function swatch(colour) {
  return element("span", {class: "swatch", style: `background:${colour}`});
}

// Draws again whenever the box gets another width.
function drawnToWidth(box, draw) {
  let drawnFor = 0;
  const redraw = () => {
    const width = Math.floor(box.clientWidth);
    if (width !== 0 && width !== drawnFor) {
      drawnFor = width;
      draw(width);
    }
  };
  new ResizeObserver(redraw).observe(box);
  redraw();
}
