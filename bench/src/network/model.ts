/** What is simulated around the schedule. */
export interface Model {
  /** How long a provider's report takes to arrive: a lognormal time. */
  readonly report: { readonly medianMs: number; readonly sigma: number };
  /** How far a clock is off, either way. */
  readonly clockMs: number;
  /** How long a transaction takes to the block's maker: evenly distributed. */
  readonly submissionMs: readonly [number, number];
  /** How long a block takes to the node that an operator asks: evenly distributed. Blocks are made at even intervals. */
  readonly blockToNodeMs: readonly [number, number];
  /** The share of transactions that are never mined. They hold up the later ones of their sender until they are replaced. */
  readonly neverMined: number;
  /**
   * When the queue of a sender replaces its first transaction, and how often it looks for that. As the operator's queue does,
   * it takes the newest round of the same keys, or cancels the transaction if they are stored.
   */
  readonly stuckMs: number;
  readonly stuckPollMs: number;
}

export const MODEL: Model = {
  report: { medianMs: 150, sigma: 0.6 },
  clockMs: 250,
  submissionMs: [200, 1_000],
  blockToNodeMs: [100, 800],
  neverMined: 0.01,
  stuckMs: 30_000,
  stuckPollMs: 2_000,
};

/** A network, and what is wrong with it. */
export interface Faults {
  readonly members: number;
  /** How many members run neither a provider nor an operator. They answer nothing, not even a refusal. */
  readonly down?: number;
  /** How many members' providers sign, while their operators send nothing, or only what is never mined. */
  readonly silent?: number;
  /** The share of the links from one member's operator to another's provider that are cut for the whole time. */
  readonly cutLinks?: number;
  /** The share of the requests to other members' providers that get lost. */
  readonly lostRequests?: number;
}
