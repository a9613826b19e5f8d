/** The times between blocks for which every scenario is simulated. */
export const BLOCK_SECONDS = [1, 2, 12];

/** Returns a scenario's bounds, one for each time between blocks: transactions per round, and p99 in seconds. */
const bounds = (transactions, ...p99s) => p99s.map((p99) => ({ transactions, p99 }));

/**
 * The scenarios that are simulated. At most f nodes can be faulty: 1 of 4, 4 of 13, 10 of 31.
 *
 * - `scheme`: how nodes take turns. `beats` is the scheme of the operator: all nodes ask for the round of the same
 *   beat, and share reports and transactions. `not shared` is the same without sharing transactions. `superseded` is
 *   the scheme that was used before: nodes wait 30 s for each other and share nothing.
 * - `down`: the number of nodes that do not run, with their providers.
 * - `mute`: the number of nodes that never send, while their providers report.
 * - `baiting`: the number of nodes that share a transaction, the bait, and make sure that it is never mined.
 * - `loss`: the fraction of the links between two nodes that are cut.
 * - `clockSkewMs`: the largest difference between clocks.
 */
export const SCENARIOS = [
  { scheme: "superseded", nodes: 4, down: 1, title: "f down" },
  { scheme: "beats", nodes: 4, title: "all well", bounds: bounds(1.002, 2.5, 3.5, 13) },
  { scheme: "beats", nodes: 4, down: 1, title: "f down", bounds: bounds(1.002, 3.4, 4.2, 13.6) },
  { scheme: "beats", nodes: 4, baiting: 1, title: "f bait", bounds: bounds(1.01, 6.3, 9.5, 30) },
  { scheme: "beats", nodes: 13, down: 4, title: "f down" },
  { scheme: "beats", nodes: 13, mute: 4, title: "f report but never send" },
  { scheme: "beats", nodes: 13, clockSkewMs: 1_000, title: "clocks a second apart" },
  { scheme: "superseded", nodes: 31, down: 10, loss: 0.1, title: "f down, 10 % of links cut" },
  {
    scheme: "beats",
    nodes: 31,
    down: 10,
    loss: 0.1,
    title: "f down, 10 % of links cut",
    bounds: bounds(1.002, 4.7, 5.4, 14.5),
  },
  { scheme: "not shared", nodes: 31, down: 10, loss: 0.1, title: "f down, 10 % of links cut" },
  { scheme: "beats", nodes: 31, mute: 10, title: "f report but never send", bounds: bounds(1.002, 8.3, 8.8, 16.8) },
  // All baits together make a node wait for up to two blocks and 1.5 s, and for half a second for each better rank.
  { scheme: "beats", nodes: 31, baiting: 10, title: "f bait", bounds: bounds(1.3, 14, 17, 50) },
];

/** Returns true if what was measured is within a scenario's bound. */
export function isWithin(measured, bound) {
  return measured.transactions <= bound.transactions && measured.p99 <= bound.p99;
}
