import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { err, ok, type Result } from "@dataset-oracle/protocol/result";
import type { Clock } from "@dataset-oracle/service/process/context";
import { HeldTexts } from "../source/held-texts.js";
import { MAX_KEY_TEXT } from "./extract-values.js";
import type { Extraction, ExtractionJob, PostedJob } from "./extraction-worker.js";

/** The worker is always the compiled one, because Node cannot load TypeScript; src and dist lie beside each other. */
const WORKER = new URL("../../dist/web-oracle/extraction-worker.js", import.meta.url);

/** The extraction was not done, and may be tried again: the pool is full or too slow, or the worker failed. */
export type PoolFailure = "full" | "late" | "failed";

/** The maximum amount of distinct text that waits, in UTF-16 code units. Half is for reserved callers only. */
const MAX_WAITING_TEXT = 32 * MAX_KEY_TEXT;
const MAX_WAITING_JOBS = 4_096;

/** The longest that a worker takes to start. */
const START_MS = 10_000;

/** Other values are for tests. */
const DEFAULTS = {
  /** The number of workers. One core is left to the thread that answers requests. */
  size: Math.max(1, Math.min(availableParallelism() - 1, 2)),
  worker: WORKER,
  /** The longest that a job waits for a worker, not counting the start of the first one. */
  waitMs: 3_000,
  /** The longest that a job may run before its worker is terminated. The budgets of a key end every job far earlier. */
  runMs: 3_000,
  heapMegabytes: 256,
};
export type ExtractionPoolOptions = Partial<typeof DEFAULTS>;

interface Waiting {
  readonly job: ExtractionJob;
  since: number;
  readonly done: (result: Result<Extraction, PoolFailure>) => void;
}

interface Thread {
  readonly worker: Worker;
  state: "starting" | "idle" | "running";
  /** Ends the thread when it takes too long to start or to run its job. */
  deadline: NodeJS.Timeout | null;
  done: Waiting["done"] | null;
  /** The answers of its last job, which it keeps, because the keys of a row often share theirs. */
  answers: ExtractionJob["answers"];
}

/**
 * Extracts values in worker threads, because those who publish a spec, and those who run its sources, choose how long
 * that takes. The jobs of reserved callers come first. This is neither workerpool, which never starts the jobs that wait
 * when a worker runs out of memory, nor piscina, which moves jobs between two queues, so that neither their order nor a
 * bound on their text would hold.
 */
export class ExtractionPool {
  readonly #threads = new Set<Thread>();
  readonly #options: typeof DEFAULTS;
  readonly #reserved: Waiting[] = [];
  readonly #anonymous: Waiting[] = [];
  readonly #texts = new HeldTexts();
  #isClosed = false;

  constructor(
    private readonly clock: Pick<Clock, "monotonic">,
    options: ExtractionPoolOptions = {},
  ) {
    this.#options = { ...DEFAULTS, ...options };
  }

  /** Starts a worker before the first job needs it. */
  start(): void {
    if (this.#threads.size === 0) this.#start();
  }

  /** Extracts a key's values. It never rejects. */
  run(job: ExtractionJob, mayUseReserve: boolean): Promise<Result<Extraction, PoolFailure>> {
    const [maxText, maxJobs] = mayUseReserve
      ? [MAX_WAITING_TEXT, MAX_WAITING_JOBS]
      : [MAX_WAITING_TEXT / 2, MAX_WAITING_JOBS / 2];
    if (this.#isClosed || this.#count >= maxJobs || this.#texts.characters >= maxText)
      return Promise.resolve(err("full"));
    return new Promise((done) => {
      this.#texts.count(textsOf(job), 1);
      (mayUseReserve ? this.#reserved : this.#anonymous).push({ job, since: this.clock.monotonic(), done });
      this.#assign();
    });
  }

  /** Ends the workers. Jobs that are not done fail. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#failAll();
    const threads = [...this.#threads];
    for (const thread of threads) this.#remove(thread);
    await Promise.all(threads.map(({ worker }) => worker.terminate()));
  }

  #assign(): void {
    for (const thread of this.#threads) {
      if (thread.state !== "idle") continue;
      const next = this.#next();
      if (next === undefined) return;
      thread.state = "running";
      thread.done = next.done;
      thread.deadline = setTimeout(() => this.#remove(thread), this.#options.runMs);
      thread.worker.ref();
      const { answers, ...job } = next.job;
      const posted = answers.map((answer, index) => (answer === thread.answers[index] ? null : answer));
      thread.answers = answers;
      thread.worker.postMessage({ ...job, answers: posted } satisfies PostedJob);
    }
    const starting = [...this.#threads].filter(({ state }) => state === "starting").length;
    if (this.#count > starting && this.#threads.size < this.#options.size) this.#start();
  }

  /** Takes the next job that has not timed out. */
  #next(): Waiting | undefined {
    for (let next = this.#take(); next !== undefined; next = this.#take()) {
      if (this.clock.monotonic() - next.since <= this.#options.waitMs) return next;
      next.done(err("late"));
    }
    return undefined;
  }

  #take(): Waiting | undefined {
    const next = this.#reserved.shift() ?? this.#anonymous.shift();
    if (next !== undefined) this.#texts.count(textsOf(next.job), -1);
    return next;
  }

  get #count(): number {
    return this.#reserved.length + this.#anonymous.length;
  }

  #start(): void {
    const resourceLimits = { maxOldGenerationSizeMb: this.#options.heapMegabytes };
    const worker = new Worker(this.#options.worker, { resourceLimits });
    const thread: Thread = { worker, state: "starting", deadline: null, done: null, answers: [] };
    thread.deadline = setTimeout(() => this.#remove(thread), START_MS);
    this.#threads.add(thread);
    worker.on("message", (message: "ready" | Extraction) => {
      if (message === "ready") this.#restartWaiting();
      this.#free(thread, message === "ready" ? err("failed") : ok(message));
      this.#assign();
    });
    // Out of memory, or a bug. The job may be tried again, by another worker.
    worker.on("error", () => this.#remove(thread));
    worker.on("exit", () => this.#remove(thread));
  }

  /** Restarts the waits when the first worker is ready, because no job could run before. */
  #restartWaiting(): void {
    if ([...this.#threads].some(({ state }) => state !== "starting")) return;
    for (const waiting of [...this.#reserved, ...this.#anonymous]) waiting.since = this.clock.monotonic();
  }

  /** Answers a thread's job, if it has one, and makes it idle. An idle worker does not keep the process alive. */
  #free(thread: Thread, result: Result<Extraction, PoolFailure>): void {
    if (thread.deadline !== null) clearTimeout(thread.deadline);
    thread.done?.(result);
    thread.done = null;
    thread.state = "idle";
    thread.worker.unref();
  }

  #remove(thread: Thread): void {
    if (!this.#threads.delete(thread)) return;
    // Otherwise, workers that cannot start would be started over and over.
    if (thread.state === "starting") this.#failAll();
    this.#free(thread, err("failed"));
    void thread.worker.terminate();
    if (!this.#isClosed) this.#assign();
  }

  #failAll(): void {
    for (let next = this.#take(); next !== undefined; next = this.#take()) next.done(err("failed"));
  }
}

const textsOf = ({ answers }: ExtractionJob) => answers.flatMap((answer) => (answer.ok ? [answer.value.text] : []));
