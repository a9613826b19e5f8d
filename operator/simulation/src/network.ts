import { Dispatcher } from "undici";

/** One HTTP request of the product, which somebody in the simulated world answers, or nobody. */
export interface HttpExchange {
  readonly origin: string;
  readonly path: string;
  readonly body: string;
  answer(status: number, text: string, headers?: Readonly<Record<string, string>>): void;
  /** Fails it as a broken connection does. @param code Node's name of the error. */
  fail(code: string): void;
}

/** The connections of one process. What it puts on them is handed to the simulated network. */
export class SimulatedConnections extends Dispatcher {
  constructor(private readonly serve: (exchange: HttpExchange) => void) {
    super();
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    let isOver = false;
    const end = () => {
      const wasOver = isOver;
      isOver = true;
      return !wasOver;
    };
    const controller: Dispatcher.DispatchController = {
      ...{ paused: false, aborted: false, reason: null, rawHeaders: null, rawTrailers: null, pause() {}, resume() {} },
      abort: () => void end(),
    };
    handler.onRequestStart?.(controller, {});
    this.serve({
      origin: String(options.origin),
      path: options.path,
      body: String(options.body ?? ""),
      answer(status, text, headers = {}) {
        if (isOver) return;
        handler.onResponseStart?.(controller, status, { "content-type": "application/json", ...headers }, "");
        if (!isOver) handler.onResponseData?.(controller, Buffer.from(text));
        if (end()) handler.onResponseEnd?.(controller, {});
      },
      fail(code) {
        if (end()) handler.onResponseError?.(controller, Object.assign(new Error(code), { code }));
      },
    });
    return true;
  }
}
