/** Virtual time: runs events in the order of their times, and those of one time in the order in which they were planned. */
export class EventQueue {
  /** The time of the event that runs now, in milliseconds. */
  now = Number.NEGATIVE_INFINITY;
  /** A binary heap. */
  #events = [];
  #planned = 0;

  /** @param at In milliseconds; a time that has passed counts as now. */
  plan(at, run) {
    const event = { at: Math.max(at, this.now), order: this.#planned++, run };
    const events = this.#events;
    let index = events.push(event) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!isBefore(event, events[parent])) break;
      events[index] = events[parent];
      index = parent;
    }
    events[index] = event;
  }

  /** Runs the next event. Returns false when there is none. */
  runNext() {
    const events = this.#events;
    const first = events[0];
    if (first === undefined) return false;
    const last = events.pop();
    if (events.length > 0) this.#sink(last);
    this.now = first.at;
    first.run();
    return true;
  }

  #sink(event) {
    const events = this.#events;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= events.length) break;
      if (child + 1 < events.length && isBefore(events[child + 1], events[child])) child++;
      if (!isBefore(events[child], event)) break;
      events[index] = events[child];
      index = child;
    }
    events[index] = event;
  }
}

const isBefore = (a, b) => a.at < b.at || (a.at === b.at && a.order < b.order);
