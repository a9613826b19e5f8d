/** A chain with blocks at even intervals, and the transactions that are on their way to it. */
export class SimulatedChain {
  /** Blocks by their number: when each was made, and the stored round of every key after it. */
  blocks;
  /** For each key, when a newer round than the first was stored, in milliseconds; null until then. */
  storedAt = new Map();
  /** For each key, how many transactions with it were mined. */
  mined = new Map();
  #queues = new Map();

  /**
   * @param neverMined Draws whether a transaction is never mined.
   * @param storedRounds The first stored round of each key.
   */
  constructor({ events, model, random, neverMined, blockMs, startMs, storedRounds }) {
    this.model = model;
    this.neverMined = neverMined;
    this.events = events;
    this.random = random;
    this.blockMs = blockMs;
    this.blocks = [{ at: Number.NEGATIVE_INFINITY, storedRounds }];
    for (const key of storedRounds.keys()) {
      this.storedAt.set(key, null);
      this.mined.set(key, 0);
    }
    this.#planBlock(startMs + Math.ceil(random.between(0, blockMs)));
  }

  /** A sender's transactions that are not mined, in the order of their nonces. */
  queueOf(sender) {
    let queue = this.#queues.get(sender);
    if (queue === undefined) {
      queue = [];
      this.#queues.set(sender, queue);
    }
    return queue;
  }

  /** Puts a transaction on its way, with the sender's next nonce. */
  submit(sender, keys, round) {
    const transaction = { ...this.#onItsWay(keys, round), minedIn: null };
    this.queueOf(sender).push(transaction);
    return transaction;
  }

  /** Replaces a transaction by another of the same nonce; without keys, it is a cancellation. */
  replace(transaction, keys, round) {
    Object.assign(transaction, this.#onItsWay(keys, round));
  }

  #onItsWay(keys, round) {
    const isNeverMined = this.neverMined.draw();
    const arrivesAt = this.events.now + Math.ceil(this.random.between(...this.model.submissionMs));
    return { keys, round, arrivesAt: isNeverMined ? Number.POSITIVE_INFINITY : arrivesAt };
  }

  #planBlock(at) {
    this.events.plan(at, () => {
      this.#makeBlock(at);
      this.#planBlock(at + this.blockMs);
    });
  }

  #makeBlock(at) {
    let { storedRounds } = this.blocks.at(-1);
    for (const queue of this.#queues.values()) {
      while (queue.length > 0 && queue[0].arrivesAt <= at) {
        const transaction = queue.shift();
        const { keys, round } = transaction;
        transaction.minedIn = this.blocks.length;
        const newer = keys.filter((key) => round > storedRounds.get(key));
        if (newer.length > 0) storedRounds = new Map([...storedRounds, ...newer.map((key) => [key, round])]);
        for (const key of newer) this.storedAt.set(key, this.storedAt.get(key) ?? at);
        for (const key of keys) this.mined.set(key, this.mined.get(key) + 1);
      }
    }
    this.blocks.push({ at, storedRounds });
  }
}
