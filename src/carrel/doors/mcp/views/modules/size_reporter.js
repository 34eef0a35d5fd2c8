// Tells the host how tall the view is, once it has come to rest.
const SIZE_PAUSE_MS = 60;

export class SizeReporter {
  #bridge;
  #timer = 0;
  #told = 0;
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

  // The height alone: a host that took our width for its own would never let it grow again.
  report() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      const height = Math.ceil(document.documentElement.getBoundingClientRect().height);
      if (this.#told === height) return;
      this.#told = height;
      this.#bridge.tell("ui/notifications/size-changed", { height });
    }, SIZE_PAUSE_MS);
  }
}
