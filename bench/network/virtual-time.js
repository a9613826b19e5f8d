/** Runs asynchronous code in simulated time: `sleep` takes no real time, and events happen in their order. */
export class VirtualTime {
  now = 0;
  /** In the order of their calls. */
  #sleepers = [];

  sleep(ms) {
    return new Promise((wake) => this.#sleepers.push({ at: this.now + Math.max(0, ms), wake }));
  }

  /** Runs until nothing sleeps any more. */
  async run() {
    await settled();
    while (this.#sleepers.length > 0) {
      const next = this.#sleepers.reduce((best, one) => (one.at < best.at ? one : best));
      this.#sleepers.splice(this.#sleepers.indexOf(next), 1);
      this.now = next.at;
      next.wake();
      await settled();
    }
  }
}

/** Resolves once no code can continue until a sleeper wakes. */
const settled = () => new Promise((resolve) => setImmediate(resolve));
