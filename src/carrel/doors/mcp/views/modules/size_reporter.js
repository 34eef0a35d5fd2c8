// Tells the host how large the view is, once it has come to rest.
const SIZE_PAUSE_MS = 60;

export class SizeReporter {
  #bridge;
  #timer = 0;
  #told = "";
  #width = 0;

  constructor(bridge) {
    this.#bridge = bridge;
  }

  // Other widths break lines elsewhere, so the view is drawn anew for them.
  watch(drawAnew) {
    new ResizeObserver(() => {
      const width = document.documentElement.clientWidth;
      const isTyping = document.activeElement?.matches("input, select");
      if (width !== this.#width && !isTyping) drawAnew();
      this.#width = width;
      this.report();
    }).observe(document.documentElement);
  }

  report() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      const { width, height } = document.documentElement.getBoundingClientRect();
      const size = { width: Math.ceil(width), height: Math.ceil(height) };
      if (this.#told === JSON.stringify(size)) return;
      this.#told = JSON.stringify(size);
      this.#bridge.tell("ui/notifications/size-changed", size);
    }, SIZE_PAUSE_MS);
  }
}
