// The host's colours and type on our tokens; ours stay where the host's would not read well.
import { textOf } from "./answers.js";
const HOST_COLOURS = {
  "--surface": "--color-background-primary",
  "--sunken": "--color-background-secondary",
  "--ink": "--color-text-primary",
  "--muted": "--color-text-secondary",
  "--hairline": "--color-border-tertiary",
};
const HOST_TYPE = { "--house": "--font-sans", "--keys": "--font-mono" };
const READ_ON = {
  "--surface": ["--ink", "--muted", "--accent", "--danger", "--warn", "--good", "--info"],
  "--sunken": ["--ink", "--muted", "--good", "--warn", "--danger"],
};
// WCAG 2.2, 1.4.3: text of ordinary size.
const LEAST_CONTRAST = 4.5;

export function applyAppearance({ theme, styles, safeAreaInsets }) {
  const root = document.documentElement;
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  const variables = styles?.variables ?? {};
  for (const [ours, theirs] of Object.entries(HOST_TYPE)) {
    if (CSS.supports("font-family", textOf(variables[theirs])))
      root.style.setProperty(ours, variables[theirs]);
  }
  for (const [ours, theirs] of Object.entries(HOST_COLOURS)) {
    const colour = textOf(variables[theirs]);
    if (colour && CSS.supports("color", colour)) root.style.setProperty(ours, colour);
    else root.style.removeProperty(ours);
  }
  if (!readsWell()) for (const ours of Object.keys(HOST_COLOURS)) root.style.removeProperty(ours);
  for (const side of ["top", "right", "bottom", "left"]) {
    const inset = safeAreaInsets?.[side];
    if (Number.isFinite(inset)) root.style.setProperty(`--inset-${side}`, `${inset}px`);
  }
}

function readsWell() {
  const probe = document.createElement("span");
  document.body.append(probe);
  const brush = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const luminance = (token) => {
    probe.style.color = `var(${token})`;
    brush.fillStyle = "#fff";
    brush.fillRect(0, 0, 1, 1);
    brush.fillStyle = getComputedStyle(probe).color;
    brush.fillRect(0, 0, 1, 1);
    const [red, green, blue] = [...brush.getImageData(0, 0, 1, 1).data].map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = (one, other) => {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const isGood = Object.entries(READ_ON).every(([ground, tokens]) =>
    tokens.every((token) => contrast(token, ground) >= LEAST_CONTRAST),
  );
  probe.remove();
  return isGood;
}
