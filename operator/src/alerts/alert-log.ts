import type { Alert } from "./alert.js";

const MAX_ALERTS = 100;

/** The last alerts since the process started. */
export class AlertLog {
  #alerts: readonly Alert[] = [];

  add(alert: Alert): void {
    this.#alerts = [alert, ...this.#alerts].slice(0, MAX_ALERTS);
  }

  /** The newest first. */
  get recent(): readonly Alert[] {
    return this.#alerts;
  }
}
