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
  for (const section of document.querySelectorAll("main section")) {
    section.hidden = section.querySelector("h2 + div").childElementCount === 0;
  }
}
