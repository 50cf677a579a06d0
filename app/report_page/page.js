// Reads the data and shows it, part by part.

// A part that cannot be drawn says so; the other parts still appear.
window.addEventListener("error", (event) => {
  const failure = document.getElementById("failure");
  failure.textContent = `A part of this page could not be drawn: ${event.message}`;
  failure.hidden = false;
});

{
  const data = JSON.parse(document.getElementById("data").textContent);
  const parts = data.program === null
    ? [showTraversal, showNotices, showTraversalFigures, showTraversalHow, showSpeed, showFrontier, showTimeline, showStretches, showParts,
      showAgain]
    : [showHeader, showNotices, showFigures, showHow, showSpeed, showTimeline, showWaves, showPlan, showMemory, showPolicy, showAgain];
  data.colours = data.program === null ? [] : coloursOfWaves(data.program);
  for (const show of parts) {
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
