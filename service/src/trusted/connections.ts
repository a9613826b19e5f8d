import { Agent, Client, type Dispatcher, Pool } from "undici";

/** What a request says to the connections, and is told by them. */
export interface TrustedDispatchOptions extends Dispatcher.DispatchOptions {
  /** True for a connection of its own, which is closed afterwards. */
  readonly isFresh: boolean;
  /** Called with the kept connection that the request goes over. */
  readonly onConnection: (connection: KeptConnection) => void;
}

/** A connection that may have been used before: then its server may have closed it while it was idle. */
export interface KeptConnection {
  /** True once a whole answer has come over the open connection. */
  hasAnswered: boolean;
}

/** undici's client of one connection at a time. */
class Connection extends Client implements KeptConnection {
  hasAnswered = false;

  constructor(origin: string | URL, options: object) {
    super(origin, options);
    this.on("disconnect", () => {
      this.hasAnswered = false;
    });
  }

  override dispatch(options: TrustedDispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    options.onConnection(this);
    return super.dispatch(options, handler);
  }
}

/**
 * The connections of a process to services that its owner has configured. The global dispatcher is never used: Node's own
 * fetch shares it, and its undici may be of another version: Node 22's refuses our handlers. Idle connections do not keep
 * the process alive.
 */
class TrustedConnections extends Agent {
  /** Without pipelining, undici opens a connection for each request, and closes it afterwards. */
  readonly #fresh = new Agent({ pipelining: 0 });

  constructor() {
    super({
      factory: (origin, options) =>
        new Pool(origin, { ...options, factory: (one, ofOne) => new Connection(one, ofOne as object) }),
    });
  }

  override dispatch(options: TrustedDispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    return options.isFresh ? this.#fresh.dispatch(options, handler) : super.dispatch(options, handler);
  }
}

export const TRUSTED_CONNECTIONS: Dispatcher = new TrustedConnections();
