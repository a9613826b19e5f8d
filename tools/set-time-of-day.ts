import { vi } from "vitest";

const { Date: RightDate } = globalThis;

/** Sets the time of day of this process. Timers and `performance` go on. `vi.unstubAllGlobals` sets it right again. */
export function setTimeOfDay(aheadMs: number): void {
  class SetDate extends RightDate {
    constructor(...time: readonly unknown[]) {
      super((time[0] ?? SetDate.now()) as number);
    }

    static override now() {
      return RightDate.now() + aheadMs;
    }
  }
  vi.stubGlobal("Date", SetDate);
}
