import { type Dispatcher, Pool } from "undici";
import { stringToHex } from "viem";
import type { PriceModel } from "../market.js";
import type { Random } from "../random.js";

export const PAIRS = ["BTC-USD", "ETH-USD", "LTC-USD"];
const RATE = "USDT-USD";
const E18 = 10n ** 18n;

/** How an exchange misbehaves. */
export type ExchangeFailure =
  | "is down"
  | "is silent"
  | "is slow"
  | "throttles"
  | "answers garbage"
  | "stands still"
  | "lies";

const common = {
  ...{ documentation: "https://exchange.example", terms: "https://exchange.example", limits: "", verification: "" },
  ...{ rateLimit: { perSecond: 10, burst: 20 }, method: "GET", type: "uint", decimals: 18, rounding: "half-even" },
  symbols: { case: "upper", spelling: {} },
};

/** Each reads its exchange in another way: with a spread, with a time, all pairs at once, in another currency. */
export const SOURCE_FILES = [
  {
    ...{ ...common, name: "exchange-0", url: "https://exchange-0.example/{base}-{quote}", path: "$.last" },
    ...{ spread: { bid: "$.bid", ask: "$.ask" }, pairs: [...PAIRS, RATE] },
  },
  {
    ...{ ...common, name: "exchange-1", url: "https://exchange-1.example/{base}-{quote}", path: "$.price" },
    ...{ quoteTime: { path: "$.time", unit: "seconds" }, pairs: [...PAIRS, RATE] },
  },
  {
    ...{ ...common, name: "exchange-2", url: "https://exchange-2.example/all", path: "$['{pair}']" },
    symbols: { case: "upper", spelling: {}, pairs: Object.fromEntries([...PAIRS, RATE].map((pair) => [pair, pair])) },
    pairs: [...PAIRS, RATE],
  },
  {
    ...{ ...common, name: "exchange-3", url: "https://exchange-3.example/{base}-{quote}", path: "$.price" },
    ...{ quoteTime: { path: "$.time", unit: "seconds" }, convert: { USD: "USDT" }, pairs: PAIRS },
  },
];

/** What undici's `fetch` hands to a dispatcher. */
interface FetchHandler {
  onConnect(abort: (reason: Error) => void): void;
  onHeaders(status: number, headers: readonly Buffer[], resume: () => void, statusText: string): boolean;
  onData(chunk: Buffer): boolean;
  onComplete(trailers: readonly Buffer[]): void;
  onError(error: Error): void;
}

/** The exchanges that providers ask. No two answers have the same price, so that a value shows when it was read. */
export class Exchanges {
  readonly failures = new Map<string, ExchangeFailure>();
  readonly #still = new Map<string, string>();
  /** As connections do, this keeps requests alive: what nobody can answer any more, the garbage collector ends. */
  readonly #open = new Set<FetchHandler>();

  constructor(
    private readonly market: PriceModel,
    private readonly random: Random,
    private readonly trace: (...parts: readonly unknown[]) => void,
  ) {
    // Egress opens its connections by pools: they reach nobody but the exchanges.
    Pool.prototype.dispatch = (options: Dispatcher.DispatchOptions, handler: unknown) => {
      this.#serve(new URL(options.path, String(options.origin)), handler as FetchHandler);
      return true;
    };
  }

  /** The lowest and the highest that an honest exchange can have said of a pair in the last minutes. */
  rangeOf(pair: string): { readonly low: bigint; readonly high: bigint } {
    const second = Math.floor(Date.now() / 1_000);
    const prices = Array.from({ length: 8 }, (_, minutes) =>
      this.market.priceOf(stringToHex(pair), second - 60 * minutes),
    );
    const [low = 0n, ...others] = prices.sort((a, b) => Number(a - b));
    const high = others.at(-1) ?? low;
    // Between two of these moments, it can have moved further; a lie is far beyond.
    return { low: (low * 9n) / 10n, high: (high * 11n) / 10n };
  }

  #serve({ host, pathname }: URL, handler: FetchHandler): void {
    const name = host.split(".")[0] ?? "";
    this.#open.add(handler);
    const end = () => this.#open.delete(handler);
    handler.onConnect((reason) => {
      if (end()) handler.onError(reason);
    });
    const failure = this.failures.get(name);
    if (failure === "is silent") return;
    const delayMs = this.random.logNormal(120, 0.7) + (failure === "is slow" ? this.random.between(1_000, 6_000) : 0);
    setTimeout(() => {
      if (!end()) return;
      this.trace(name, pathname, failure ?? "answers");
      if (failure === "is down") return handler.onError(Object.assign(new Error("refused"), { code: "ECONNREFUSED" }));
      const status = failure === "throttles" ? 429 : 200;
      handler.onHeaders(status, [Buffer.from("content-type"), Buffer.from("application/json")], () => {}, "");
      handler.onData(Buffer.from(this.#textOf(name, pathname, failure)));
      handler.onComplete([]);
    }, delayMs);
  }

  #textOf(name: string, path: string, failure: ExchangeFailure | undefined): string {
    if (failure === "answers garbage") return "<html>";
    const id = `${name}${path}`;
    const known = this.#still.get(id);
    if (failure === "stands still" && known !== undefined) return known;
    const text = JSON.stringify(this.#answer(name, path.slice(1), failure === "lies" ? 2n : 1n));
    this.#still.set(id, text);
    return text;
  }

  #answer(name: string, pair: string, factor: bigint): object {
    const price = (of: string) => decimal(this.#priceOf(of.replace(/-USDT$/, "-USD")) * factor);
    if (name === "exchange-2") return Object.fromEntries([...PAIRS, RATE].map((one) => [one, price(one)]));
    if (name === "exchange-0") {
      const last = price(pair);
      return { last, bid: last, ask: last };
    }
    return { price: price(pair), time: Math.floor(Date.now() / 1_000) };
  }

  #priceOf(pair: string): bigint {
    const true_ = pair === RATE ? E18 : this.market.priceOf(stringToHex(pair), Math.floor(Date.now() / 1_000));
    return true_ + (true_ * BigInt(this.random.below(1e9))) / 10n ** 12n;
  }
}

const decimal = (scaled: bigint) => `${scaled / E18}.${String(scaled % E18).padStart(18, "0")}`;
