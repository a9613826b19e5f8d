interface ScheduledEvent {
  readonly at: number;
  /** In which it was planned. */
  readonly order: number;
  run(): void;
}

/** Virtual time: runs events in the order of their times, and those of one time in the order in which they were planned. */
export class EventQueue {
  /** The time of the event that runs now, in milliseconds. */
  now = Number.NEGATIVE_INFINITY;
  /** A binary heap. */
  readonly #events: ScheduledEvent[] = [];
  #planned = 0;

  /** @param at In milliseconds; a time that has passed counts as now. */
  plan(at: number, run: () => void): void {
    const event: ScheduledEvent = { at: Math.max(at, this.now), order: this.#planned++, run };
    const events = this.#events;
    let index = events.push(event) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = events[parent] as ScheduledEvent;
      if (!isBefore(event, above)) break;
      events[index] = above;
      index = parent;
    }
    events[index] = event;
  }

  /** Runs the next event. Returns false when there is none. */
  runNext(): boolean {
    const events = this.#events;
    const first = events[0];
    if (first === undefined) return false;
    const last = events.pop();
    if (events.length > 0 && last !== undefined) this.#sink(last);
    this.now = first.at;
    first.run();
    return true;
  }

  #sink(event: ScheduledEvent) {
    const events = this.#events;
    let index = 0;
    for (;;) {
      const left = 2 * index + 1;
      const [first, second] = [events[left], events[left + 1]];
      if (first === undefined) break;
      const isSecond = second !== undefined && isBefore(second, first);
      const next = isSecond ? second : first;
      if (!isBefore(next, event)) break;
      events[index] = next;
      index = isSecond ? left + 1 : left;
    }
    events[index] = event;
  }
}

const isBefore = (a: ScheduledEvent, b: ScheduledEvent) => a.at < b.at || (a.at === b.at && a.order < b.order);
