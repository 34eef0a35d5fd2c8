// The colours of the page's tokens as numbers, for the worker that has no style sheet.

export function readColours(facts) {
  const probe = document.createElement("span");
  probe.hidden = true;
  document.body.append(probe);
  const painter = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const read = (name) => {
    probe.className = name;
    painter.fillStyle = getComputedStyle(probe).color;
    painter.fillRect(0, 0, 1, 1);
    return [...painter.getImageData(0, 0, 1, 1).data.slice(0, 3)];
  };
  const eight = [0, 1, 2, 3, 4, 5, 6, 7];
  const steps = Math.max(1, facts.years.length - 1);
  const colours = {
    ground: read("map-probe-ground"),
    faint: read("map-probe-faint"),
    hit: read("map-probe-hit"),
    regions: eight.map((number) => read(`map-colour-${number}`)),
    years: facts.years.map((_, at) => read(`map-year-${Math.round((at * 7) / steps)}`)),
    noYear: read("map-year-none"),
  };
  probe.remove();
  return colours;
}
