// Shows the tab of this page where the strip of tabs is wider than the screen.
const strip = document.querySelector(".admin-tabs ul");
const current = strip?.querySelector("[aria-current]")?.parentElement;
if (current && strip.scrollWidth > strip.clientWidth) {
  strip.scrollLeft = current.offsetLeft - (strip.clientWidth - current.offsetWidth) / 2;
}
