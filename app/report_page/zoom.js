// The timeline's zoom: a view of its picture is a viewBox.
{
  const lanes = document.getElementById("lanes");
  if (lanes) {
    const range = document.getElementById("range");
    const {width, height} = lanes.viewBox.baseVal;
    const end = Number(range.dataset.to); // in ns, as views are
    let view = {from: 0, to: end};
    const time = (ns) => {
      const [unit, name] = [[1e9, "s"], [1e6, "ms"], [1e3, "us"]].find(([size]) => ns >= size) ?? [1, "ns"];
      return `${Number((ns / unit).toPrecision(4))} ${name}`;
    };
    const look = (from, to) => {
      const length = Math.min(Math.max(to - from, 50), end);
      const begin = Math.min(Math.max((from + to - length) / 2, 0), end - length);
      view = {from: begin, to: begin + length};
      lanes.setAttribute("viewBox", `${begin * width / end} 0 ${length * width / end} ${height}`);
      Object.assign(range.dataset, view);
      range.textContent = `${time(view.from)} to ${time(view.to)}`;
    };
    const zoom = (factor, around = (view.from + view.to) / 2) =>
      look(around - (around - view.from) * factor, around + (view.to - around) * factor);
    const pan = (share) => look(view.from + (view.to - view.from) * share, view.to + (view.to - view.from) * share);
    const moment = (event) => {
      const box = lanes.getBoundingClientRect();
      return view.from + (view.to - view.from) * (event.clientX - box.left) / box.width;
    };
    const keys = {"+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), "0": () => look(0, end),
      ArrowLeft: () => pan(-0.25), ArrowRight: () => pan(0.25)};
    lanes.addEventListener("keydown", (event) => {
      if (keys[event.key] && !event.ctrlKey && !event.metaKey && !event.altKey) {
        event.preventDefault();
        keys[event.key]();
      }
    });
    lanes.addEventListener("wheel", (event) => {
      if (event.ctrlKey || event.metaKey || document.activeElement === lanes) {
        event.preventDefault();
        zoom(2 ** (event.deltaY / 300), moment(event));
      }
    }, {passive: false});
    let held = null;
    lanes.addEventListener("pointerdown", (event) => { held = moment(event); });
    lanes.addEventListener("pointermove", (event) => {
      if (held !== null && event.buttons !== 0) {
        const by = held - moment(event);
        look(view.from + by, view.to + by);
      }
    });
    addEventListener("pointerup", () => { held = null; });
    ["+", "-", "0"].forEach((key, i) => document.querySelectorAll(".tools button")[i].addEventListener("click", keys[key]));
  }
}
