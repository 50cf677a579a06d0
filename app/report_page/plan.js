// The DAG of waves: a column for each group between two barriers, from left to right. Waves of a group that are
// alike, and groups in a row that are alike, fold into one where there are many.

const NODE = {width: 150, height: 42, gap: 10};
const COLUMN = {padding: 12, head: 40, gap: 54};
const LIMITS = {waves: 8, groups: 16, columns: 300, edges: 4000, rows: 500};

// Waves and their ops have the colours that they have in the timeline.
function coloursOfWaves({waves}) {
  const indexOf = new Map([...new Set(waves.map((wave) => wave.op))].map((op, index) => [op, index]));
  const place = (wave, index) => (waves.length <= COLOURS.length ? index : indexOf.get(wave.op));
  return waves.map((wave, index) => COLOURS[place(wave, index) % COLOURS.length]);
}

function nodesOfGroup(program, waves) {
  if (waves.length <= LIMITS.waves) {
    return waves.map((wave) => ({waves: [wave]}));
  }
  const alike = gathered(waves.map((wave) => [`${program.waves[wave].tiles} ${program.waves[wave].op}`, wave]));
  return [...alike.values()].map((same) => ({waves: same}));
}

// Returns the columns of the picture; equal groups in a row share one.
function foldedColumns(data) {
  const {program} = data;
  const groups = data.report.plan.barriers.groups;
  const columns = [];
  for (const [index, group] of groups.entries()) {
    const nodes = nodesOfGroup(program, group.waves);
    const key = nodes.map(({waves: [wave, ...more]}) =>
      [program.waves[wave].op, program.waves[wave].phase, program.waves[wave].tiles, more.length].join()).join(";");
    const last = columns.at(-1);
    if (groups.length > LIMITS.groups && last?.key === key) {
      last.groups.push(index);
      nodes.forEach((node, i) => last.nodes[i].waves.push(...node.waves));
    } else {
      columns.push({key, nodes, groups: [index]});
    }
  }
  return columns;
}

// Edges between nodes, each once.
function foldedEdges(program, columns) {
  const nodeOf = new Map(columns.flatMap((column) => column.nodes.flatMap((node) =>
    node.waves.map((wave) => [wave, node]))));
  const edges = new Map();
  for (const [before, after] of program.dependencies) {
    const [from, to] = [nodeOf.get(before), nodeOf.get(after)];
    if (from && to && from !== to) {
      edges.set(`${from.id} ${to.id}`, {from, to});
    }
  }
  return [...edges.values()];
}

// Places nodes near those that they depend on: sorts each column, from left to right, by the mean height of the nodes before.
function placeNodes(columns, edges) {
  const before = gathered(edges.map(({from, to}) => [to, from]));
  const tallest = most(columns.map((column) => column.nodes.length));
  const inner = tallest * (NODE.height + NODE.gap) - NODE.gap;
  columns.forEach((column, index) => {
    column.x = index * (NODE.width + 2 * COLUMN.padding + COLUMN.gap);
    const mean = (node) => {
      const from = before.get(node) ?? [];
      return from.length === 0 ? 0 : from.reduce((sum, other) => sum + other.y, 0) / from.length;
    };
    column.nodes.sort((a, b) => mean(a) - mean(b) || a.id - b.id);
    const height = column.nodes.length * (NODE.height + NODE.gap) - NODE.gap;
    column.nodes.forEach((node, i) => {
      node.x = column.x + COLUMN.padding;
      node.y = COLUMN.head + (inner - height) / 2 + i * (NODE.height + NODE.gap);
    });
  });
  return {width: columns.at(-1).x + NODE.width + 2 * COLUMN.padding, height: COLUMN.head + inner + COLUMN.padding};
}

function groupNames({groups}) {
  return groups.length === 1 ? `group ${groups[0]}` : `groups ${groups[0]} to ${groups.at(-1)}`;
}

function drawColumn(data, column, height) {
  const largest = most(column.groups.map((group) => data.report.plan.barriers.groups[group].fused_bytes));
  const [x, width] = [column.x, NODE.width + 2 * COLUMN.padding];
  return drawn("g", {},
    drawn("rect", {class: "plan-group", x: x + 0.5, y: 0.5, width: width - 1, height: height - 1, rx: 8}),
    drawn("text", {x: x + COLUMN.padding, y: 17, "font-size": 12, "font-weight": 600}, groupNames(column)),
    drawn("text", {class: "quiet", x: x + COLUMN.padding, y: 31, "font-size": 11},
      column.groups.length === 1 ? bytes(largest) : `${column.groups.length} alike, ${bytes(largest)} each`));
}

function drawNode({program, colours}, node) {
  const first = program.waves[node.waves[0]];
  const many = node.waves.length > 1;
  const tiles = plural(first.tiles, "tile");
  const name = many ? `${shortened(first.op, 12)} × ${number(node.waves.length)}` : shortened(first.name, 17);
  const what = `${many ? `${node.waves.length} waves of ${first.op}` : `${first.name}, op ${first.op}`}, `
    + tiles + (many ? " each" : "");
  const colour = colours[node.waves[0]];
  const top = node.y + 0.5;
  const picture = drawn("g", {class: "plan-node"}, drawn("title", {}, what),
    drawn("rect", {x: node.x + 0.5, y: top, width: NODE.width - 1, height: NODE.height - 1, rx: 5}),
    drawn("path", {fill: colour, d: `M${node.x + 5} ${top} h-1 a4 4 0 0 0 -4 4 v${NODE.height - 9} a4 4 0 0 0 4 4 h1 z`}),
    drawn("text", {x: node.x + 14, y: node.y + 18, "font-size": 13}, name),
    drawn("text", {class: "quiet", x: node.x + 14, y: node.y + 33, "font-size": 11},
      shortened(`${first.op === first.name || many ? "" : `${shortened(first.op, 11)}, `}${tiles}`, 24)));
  return picture;
}

function drawEdge({from, to}) {
  const [x1, y1] = [from.x + NODE.width, from.y + NODE.height / 2];
  const [x2, y2] = [to.x - 5, to.y + NODE.height / 2];
  const bend = Math.max(24, (x2 - x1) * 0.45);
  return drawn("path", {class: "plan-edge", "marker-end": "url(#plan-arrow)",
    d: `M${x1} ${y1} C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`});
}

// A bracket under the groups that repeat.
function drawRepetition(data, columns, y) {
  const repeats = columns.filter((column) => data.program.waves[column.nodes[0].waves[0]].phase === "each");
  if (repeats.length === 0 || data.program.most_iterations === 1) {
    return null;
  }
  const [x1, x2] = [repeats[0].x + 1, repeats.at(-1).x + NODE.width + 2 * COLUMN.padding - 1];
  const ran = data.report.iterations;
  const all = data.program.most_iterations;
  return drawn("g", {}, drawn("path", {class: "axis", fill: "none", d: `M${x1} ${y} v6 H${x2} v-6`}),
    drawn("text", {class: "quiet", x: x1, y: y + 21, "font-size": 11},
      data.report.status === "planned" || ran === all ? plural(all, "iteration")
        : `${number(ran)} of ${number(all)} iterations`));
}

function drawPlan(data, columns, edges) {
  const {width, height} = placeNodes(columns, edges);
  const groups = plural(data.report.plan.barriers.groups.length, "group");
  const below = data.program.most_iterations > 1 ? 32 : 0;
  const shown = edges.slice(0, LIMITS.edges).map((edge) => ({...edge, line: drawEdge(edge)}));
  const picture = drawn("svg", {class: "plan-picture", width, height: height + below + 1, role: "img",
    "aria-label": `${plural(data.program.waves.length, "wave")} in ${groups}; `
      + "the table below has the same in words"},
  drawn("defs", {}, drawn("marker", {id: "plan-arrow", viewBox: "0 0 8 8", refX: 3, refY: 4, markerWidth: 7, markerHeight: 7,
    markerUnits: "userSpaceOnUse", orient: "auto"}, drawn("path", {class: "plan-arrow", d: "M0 0 L8 4 L0 8 z"}))),
  columns.map((column) => drawColumn(data, column, height)), shown.map((edge) => edge.line),
  drawRepetition(data, columns, height + 5));
  for (const node of columns.flatMap((column) => column.nodes)) {
    const box = drawNode(data, node);
    const near = shown.filter((edge) => edge.from === node || edge.to === node);
    box.addEventListener("pointerenter", () => highlight(picture, near, true));
    box.addEventListener("pointerleave", () => highlight(picture, near, false));
    picture.append(box);
  }
  return picture;
}

function highlight(picture, edges, on) {
  picture.classList.toggle("picked", on);
  edges.forEach((edge) => edge.line.classList.toggle("near", on));
}

function wavesTable(data) {
  const {program, report} = data;
  const {groups} = report.plan.barriers;
  const groupOf = new Map(groups.flatMap((group, index) => group.waves.map((wave) => [wave, index])));
  const after = gathered(program.dependencies.map(([first, then]) => [then, first]));
  const order = groups.flatMap((group) => group.waves).slice(0, LIMITS.rows);
  const names = (waves) => waves.slice(0, 6).map((wave) => program.waves[wave].name).join(", ")
    + (waves.length > 6 ? ` and ${waves.length - 6} more` : "");
  return element("details", {}, element("summary", {}, "Waves in words"),
    element("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": "Waves in words"},
      table(["wave", "op", "#tiles", "#group", "waits for"], order.map((wave) => {
        const {name, op, tiles} = program.waves[wave];
        return [quoted(name), quoted(op), number(tiles), number(groupOf.get(wave)), names(after.get(wave) ?? [])];
      }))),
    firstOf(order, program.waves));
}

function showPlan(data) {
  const {plan} = data.report;
  const all = foldedColumns(data);
  all.flatMap((column) => column.nodes).forEach((node, id) => { node.id = id; });
  const columns = all.slice(0, LIMITS.columns);
  const edges = foldedEdges(data.program, columns);
  const groups = plan.barriers.groups.length;
  const bound = plan.optimal ? "no plan has fewer" : `at least ${plan.lower_bound_groups} are needed`;
  const box = document.getElementById("plan-body");
  fill(box, element("p", {}, figure("plan.groups", groups, plural(groups, "group")),
    ` of waves, a barrier between each and the next; ${bound}. `,
    element("span", {class: "soft"}, data.program.derived ? "Dependencies follow from what the kernels read and write."
      : "Dependencies are those that the program lists.")));
  if (columns.length !== 0) {
    fill(box, element("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": "Picture of the plan"},
      drawPlan(data, columns, edges)));
  }
  if (all.length > columns.length || edges.length > LIMITS.edges) {
    const last = columns.at(-1).groups.at(-1) + 1;
    fill(box, element("p", {class: "hint"}, `The picture shows the first ${plural(last, "group")} of ${number(groups)}`
      + (edges.length > LIMITS.edges ? ` and ${number(LIMITS.edges)} of ${number(edges.length)} dependencies.` : ".")));
  }
  fill(box, wavesTable(data));
}
