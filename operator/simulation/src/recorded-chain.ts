import { type Address, type Hex, keccak256, stringToHex } from "viem";
import type { MinedBlock } from "./chain/chain.js";
import type { World } from "./world.js";

/** What a simulated chain mined, in JSON, so that it can be compared with another implementation. */
export interface RecordedChain {
  readonly members: readonly Address[];
  /** The blocks with updates that were not out of gas, the oldest first. */
  readonly blocks: readonly {
    /** In seconds since 1970. */
    readonly timestamp: number;
    readonly transactions: readonly {
      readonly data: Hex;
      readonly outcome: "stored" | "useless" | "reverted";
      readonly events: readonly {
        readonly keyHash: Hex;
        readonly value: Hex;
        readonly round: string;
        readonly status: number;
      }[];
    }[];
  }[];
  /** What is stored in the end. */
  readonly points: readonly {
    readonly key: string;
    readonly value: Hex;
    readonly round: string;
    readonly status: number;
  }[];
}

/** Records the blocks that the chain still has. */
export function recordChain({ chain, keys }: World): RecordedChain {
  const all: MinedBlock[] = [];
  for (let block: MinedBlock | null = chain.head; block !== null; block = block.parent) all.unshift(block);
  if (all[0]?.number !== 0) throw new Error("The chain has forgotten its first blocks. Simulate fewer minutes.");
  const blocks = all.map(({ timestamp, receipts }) => ({
    timestamp,
    transactions: receipts.flatMap(({ transaction, outcome, events }) => {
      if (outcome === "transfer" || outcome === "out of gas") return [];
      const plain = events.map(({ keyHash, value, round, status }) => ({
        keyHash,
        value,
        round: String(round),
        status,
      }));
      return [{ data: transaction.data, outcome, events: plain }];
    }),
  }));
  const { points } = chain.head.state;
  return {
    members: chain.dataset.committee.members,
    blocks: blocks.filter(({ transactions }) => transactions.length > 0),
    points: keys.flatMap((key) => {
      const point = points.get(keccak256(stringToHex(key)));
      return point === undefined ? [] : [{ key, value: point.value, round: String(point.round), status: point.status }];
    }),
  };
}
