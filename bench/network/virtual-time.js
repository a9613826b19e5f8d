/** Runs asynchronous code in simulated time: `sleep` takes no real time, and events happen in their order. */
export class VirtualTime {
  now = 0;
  /** A heap of sleepers by the time at which they wake; equal times in the order of their calls. */
  #sleepers = [];
  #calls = 0;

  sleep(ms) {
    return new Promise((wake) => this.#push({ at: this.now + Math.max(0, ms), call: this.#calls++, wake }));
  }

  /** Runs until nothing sleeps any more. */
  async run() {
    await settled();
    for (let next = this.#pop(); next !== undefined; next = this.#pop()) {
      this.now = next.at;
      next.wake();
      await settled();
    }
  }

  #push(sleeper) {
    const heap = this.#sleepers;
    let at = heap.push(sleeper) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(heap[at], heap[parent])) return;
      [heap[at], heap[parent]] = [heap[parent], heap[at]];
      at = parent;
    }
  }

  #pop() {
    const heap = this.#sleepers;
    const first = heap[0];
    const last = heap.pop();
    if (heap.length === 0) return first;
    heap[0] = last;
    for (let at = 0; ; ) {
      const children = [2 * at + 1, 2 * at + 2].filter((child) => child < heap.length);
      const least = children.reduce((best, child) => (isBefore(heap[child], heap[best]) ? child : best), at);
      if (least === at) return first;
      [heap[at], heap[least]] = [heap[least], heap[at]];
      at = least;
    }
  }
}

const isBefore = (a, b) => a.at < b.at || (a.at === b.at && a.call < b.call);

/** Resolves when no code can go on without an event. */
const settled = () => new Promise((resolve) => setImmediate(resolve));
