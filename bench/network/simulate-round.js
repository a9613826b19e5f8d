import { isQuorum } from "@dataset-oracle/protocol/quorum";
import { numberToHex } from "viem";
// The code that decides when a node sends is the operator's own. Only the network around it is simulated.
import { orderOf, stagesBefore } from "../../operator/dist/feeds/turn-schedule.js";
import { waitForTurn } from "../../operator/dist/feeds/wait-for-turn.js";
import { VirtualTime } from "./virtual-time.js";

const BEAT_SECONDS = 5;
const DATASET = numberToHex(0xda7a, { size: 20 });

/** The delays of a provider's answer and of a message between two nodes. */
const REPORT_MS = { median: 150, sigma: 0.5 };
const MESSAGE_MS = { median: 40, sigma: 0.5 };
/** How long a transaction takes from a node to the block builders and to the pools of other RPC endpoints. */
const BROADCAST_MS = [100, 400];
/** As in the operator: the wait for more reports after a quorum, and the wait before it asks the other nodes. */
const GRACE_MS = 500;
const RELAY_AFTER_MS = 1_000;
/** The probability that a node's RPC endpoint shows pending transactions. */
const SHOWS_PENDING = 0.5;
/** The probability that a transaction reaches only the pool of its own RPC endpoint, until its sender replaces it. */
const STUCK = 0.01;
const STUCK_MS = 30_000;

const LENGTHS = { stageMs: 2_000, absentStageMs: 500 };

/** The compared schemes: how long a node waits for others, and whether nodes relay reports and share transactions. */
export const SCHEMES = {
  beats: { lengths: LENGTHS, relays: true, shares: true },
  "not shared": { lengths: LENGTHS, relays: true, shares: false },
  // The same order, in which nodes wait 30 s for each other and never talk.
  superseded: { lengths: { stageMs: 30_000, absentStageMs: 30_000 }, relays: false, shares: false },
};

/**
 * Simulates one round of one chunk of feeds.
 *
 * @param scenario One of `SCENARIOS`, with `blockMs`, the time between blocks.
 * @returns `storedMs`: the time from the beginning of the beat until the round was mined; null without a quorum.
 * `mined`: how many transactions of the round were mined.
 */
export async function simulateRound(scheme, scenario, index, random) {
  const { nodes: size, down = 0, mute = 0, baiting = 0, loss = 0, blockMs, clockSkewMs = 200 } = scenario;
  const time = new VirtualTime();
  const links = cutLinks(size, loss, random);
  const faulty = random.sample(down + mute + baiting, size);
  const behaviorOf = (node) => {
    const at = faulty.indexOf(node);
    if (at === -1) return "honest";
    return at < down ? "down" : at < down + mute ? "mute" : "baiting";
  };
  const alive = Array.from({ length: size }, (_, node) => node).filter((node) => behaviorOf(node) !== "down");
  const chain = new Chain(time, blockMs, random);
  const rpcs = alive.map(() => ({ showsPending: random.chance(SHOWS_PENDING), shared: [] }));
  const rpcOf = (node) => rpcs[alive.indexOf(node)];
  const providers = Array.from({ length: size }, (_, node) => numberToHex(node + 1, { size: 20 }));
  const order = orderOf({ dataset: DATASET, chunk: 0, round: BigInt(index * BEAT_SECONDS) }, providers);
  /** Returns the last transaction that was shared with each of the nodes that a node can reach. */
  const askNodes = (node) =>
    alive
      .filter((other) => other !== node && !links.isCut(node, other))
      .flatMap((other) => rpcOf(other).shared.slice(-1));
  const direct = new Map(alive.map((node) => [node, askProviders(node, alive, size, links, random)]));

  for (const node of alive) {
    const behavior = behaviorOf(node);
    if (behavior === "mute") continue;
    const held = gather(direct, node, scheme.relays, links, random);
    if (!isQuorum(held.of.size, size - held.of.size)) continue;
    const heldProviders = new Set([...held.of].map((other) => providers[other]));
    const stages = stagesBefore(providers[node], order, heldProviders, scheme.lengths);
    const rpc = rpcOf(node);
    const share = (transaction) => {
      if (!scheme.shares) return;
      for (const other of alive) {
        if (other === node || links.isCut(node, other)) continue;
        void time.sleep(message(random)).then(() => rpcOf(other).shared.push(transaction));
      }
    };
    let other;
    void (async () => {
      await time.sleep(random.between(0, clockSkewMs) + held.ms);
      const sends = await waitForTurn(stages, blockMs, {
        sleep: (ms) => time.sleep(ms),
        isMined: async () => chain.isMined(),
        findOtherTransaction: async () => {
          // At first only the leader can have sent a transaction, so nobody is asked.
          const canOthersHaveSent = time.now >= LENGTHS.absentStageMs;
          const find = () => rpc.shared.findLast((transaction) => !transaction.isLost());
          const hasLost = rpc.shared.some((transaction) => transaction.isLost());
          other = find();
          if (other === undefined && scheme.shares && canOthersHaveSent) {
            await time.sleep(2 * message(random));
            rpc.shared.push(...askNodes(node));
            other = find();
          }
          other?.submit();
          if (other !== undefined || chain.isPending(rpc)) return "found";
          return hasLost ? "lost" : "none";
        },
        isOtherLost: async () => other?.isLost() ?? false,
        nodesBefore: () => {
          const lost = new Set(rpc.shared.filter((transaction) => transaction.isLost()));
          return Math.max(0, stages.length - lost.size);
        },
        // No node is short of CPU time.
        busyMs: () => 0,
      });
      if (!sends) return;
      share(behavior === "baiting" ? chain.bait() : chain.send());
    })();
  }
  await time.run();
  return { storedMs: chain.storedMs, mined: chain.mined };
}

const message = (random) => random.logNormal(MESSAGE_MS.median, MESSAGE_MS.sigma);

/** Cuts links between pairs of nodes at random. */
function cutLinks(size, loss, random) {
  const cut = new Set();
  for (let a = 0; a < size; a++) for (let b = 0; b < a; b++) if (random.chance(loss)) cut.add(a * size + b);
  return { isCut: (a, b) => cut.has(Math.max(a, b) * size + Math.min(a, b)) };
}

/** Returns whose reports a node gets by itself, and when it stops waiting: `ms` is null short of a quorum. */
function askProviders(node, alive, size, links, random) {
  const answers = alive
    .filter((other) => !links.isCut(node, other))
    .map((other) => ({ other, ms: other === node ? 20 : random.logNormal(REPORT_MS.median, REPORT_MS.sigma) }))
    .toSorted((a, b) => a.ms - b.ms);
  const enough = answers.findIndex((_, i) => isQuorum(i + 1, size - i - 1));
  if (enough === -1) return { of: new Set(answers.map(({ other }) => other)), ms: null };
  const endMs = answers[enough].ms + GRACE_MS;
  const inTime = answers.filter(({ ms }) => ms <= endMs);
  const isComplete = inTime.length === size;
  return { of: new Set(inTime.map(({ other }) => other)), ms: isComplete ? inTime.at(-1).ms : endMs };
}

/** Returns the reports that a node ends up with, and when. Short of a quorum, it asks the other nodes for theirs. */
function gather(direct, node, relays, links, random) {
  const own = direct.get(node);
  if (own.ms !== null || !relays) return own;
  const others = [...direct].filter(([other]) => other !== node && !links.isCut(node, other));
  const ms = RELAY_AFTER_MS + 2 * message(random);
  return { of: new Set([own, ...others.map(([, theirs]) => theirs)].flatMap(({ of }) => [...of])), ms };
}

/** A chain that produces blocks at a fixed interval. */
class Chain {
  /** How many transactions of the round were mined, including those that came too late. */
  mined = 0;
  storedMs = null;
  /** When the first transaction reached the public pools. */
  #publicAt = Number.POSITIVE_INFINITY;
  #firstBlockAt;

  constructor(time, blockMs, random) {
    this.time = time;
    this.blockMs = blockMs;
    this.random = random;
    this.#firstBlockAt = random.between(0, blockMs);
  }

  isMined() {
    return this.storedMs !== null && this.storedMs <= this.time.now;
  }

  /** Sends a transaction. It can get stuck, until its sender replaces it or another node submits it. */
  send() {
    const transaction = { isPublic: false };
    if (!this.random.chance(STUCK)) this.#publish(transaction);
    else void this.time.sleep(STUCK_MS).then(() => this.#publish(transaction));
    return { submit: () => this.#publish(transaction), isLost: () => false };
  }

  /** Shares a transaction that its sender replaces as soon as another node submits it, so that it is never mined. */
  bait() {
    let lostAt = Number.POSITIVE_INFINITY;
    const submit = () => {
      lostAt = Math.min(lostAt, this.time.now + this.random.between(...BROADCAST_MS) + this.blockMs);
    };
    return { submit, isLost: () => this.time.now >= lostAt };
  }

  isPending({ showsPending }) {
    return showsPending && this.time.now >= this.#publicAt;
  }

  #publish(transaction) {
    if (transaction.isPublic) return;
    transaction.isPublic = true;
    const arrivesAt = this.time.now + this.random.between(...BROADCAST_MS);
    this.#publicAt = Math.min(this.#publicAt, arrivesAt);
    const blocks = Math.max(0, Math.ceil((arrivesAt - this.#firstBlockAt) / this.blockMs));
    const minedAt = this.#firstBlockAt + blocks * this.blockMs;
    this.mined++;
    this.storedMs = Math.min(this.storedMs ?? minedAt, minedAt);
  }
}
