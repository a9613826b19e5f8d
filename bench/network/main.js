// Simulates networks of operators that do not talk to each other. When each of them gathers and sends is decided by the
// operator's own schedule (operator/src/schedule); what is simulated around it is this:

const MODEL = {
  /** How long a provider's report takes to arrive: lognormal. */
  report: { medianMs: 150, sigma: 0.6 },
  /** How far a clock is off, either way. */
  clockMs: 250,
  /** How long a transaction takes to the block's maker: evenly distributed. */
  submissionMs: [200, 1_000],
  /** How long a block takes to the node that an operator asks: evenly distributed. Blocks are made at even intervals. */
  blockToNodeMs: [100, 800],
  /** The share of transactions that are never mined. They hold up the later ones of their sender, until it replaces them. */
  neverMined: 0.01,
  /** When a sender's queue replaces its first transaction, and how often it looks for that. */
  stuckMs: 30_000,
  stuckPollMs: 2_000,
};
const BLOCK_SECONDS = [1, 2, 12];

/**
 * The published figures: transactions per episode, and the 99th percentile of the seconds from due to stored, for each time
 * between blocks. f is the most members that can be faulty: 1 of 4, 10 of 31.
 */
const ROWS = [
  { members: 4, title: "nothing", figures: [[1.024, 1.011, 1.002], [3.5, 4.5, 16.2]] },
  { members: 31, title: "nothing", figures: [[1.02, 1.008, 1.002], [3.4, 4.7, 13.4]] },
  { members: 4, down: 1, title: "f down", figures: [[1.02, 1.011, 1.002], [3.5, 4.4, 17.0]] },
  { members: 31, down: 10, title: "f down", figures: [[1.025, 1.012, 1.002], [4.5, 6.4, 23.0]] },
  { members: 4, silent: 1, title: "f sign and never send", figures: [[1.017, 1.009, 1.002], [4.9, 6.8, 26.5]] },
  { members: 31, silent: 10, title: "f sign and never send", figures: [[1.013, 1.006, 1.001], [9.5, 13.4, 52.7]] },
  { members: 4, cutLinks: 0.1, title: "10% of links cut", figures: [[1.107, 1.087, 1.07], [4.4, 6.1, 23.6]] },
  { members: 31, cutLinks: 0.1, title: "10% of links cut", figures: [[1.125, 1.102, 1.083], [2.7, 3.6, 13.3]] },
  { members: 31, down: 5, cutLinks: 0.1, title: "half of f down, 10% of links cut", figures: [[1.105, 1.1, 1.076], [4.8, 6.6, 24.6]] },
  { members: 4, lostRequests: 0.1, title: "f - 1 down, 10% of requests lost", figures: [[1.045, 1.025, 1.012], [3.3, 3.8, 17.6]] },
  { members: 31, down: 9, lostRequests: 0.1, title: "f - 1 down, 10% of requests lost", figures: [[1.072, 1.04, 1.011], [5.6, 7.5, 25.6]] },
  // Most operators cannot gather a quorum themselves: this is what a network without messages cannot do.
  { members: 4, down: 1, cutLinks: 0.1, title: "f down, 10% of links cut", figures: null },
  { members: 31, down: 10, cutLinks: 0.1, title: "f down, 10% of links cut", figures: null },
];
import { simulateRow } from "./simulate-row.js";
import { Random } from "./random.js";
const count = Number(process.argv[2] ?? 6000);
const only = process.argv[3];
for (const row of ROWS) {
  if (only && !row.title.includes(only)) continue;
  const t = performance.now();
  const f = BLOCK_SECONDS.map((s) => simulateRow(MODEL, row, s*1000, count, new Random(1)));
  console.log(row.members, row.title, f.map(x=>x.transactions.toFixed(3)).join(" / "), f.map(x=>x.p99.toFixed(1)).join(" / "), "missed", f.map(x=>x.missed.toFixed(4)).join(" / "), "FIG", JSON.stringify(row.figures), ((performance.now()-t)/1000).toFixed(0)+"s");
}
