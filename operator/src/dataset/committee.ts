import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { type Committee, committeeHash } from "@dataset-oracle/protocol/committee-hash";
import type { Logger } from "pino";
import { encodeEventTopics, formatLog, type Hex, numberToHex, parseEventLogs, type RpcLog } from "viem";
import { readBlockNumber } from "../rpc/blocks.js";
import { nullFor, RpcError } from "../rpc/rpc-error.js";
import { type DatasetContract, DatasetUnreadable, readView } from "./contract.js";

/** A committee that a dataset has. */
export interface StoredCommittee extends Committee {
  /** The hash of it that the dataset stores. */
  readonly hash: Hex;
}

/**
 * A dataset's committee as last read from the chain. It is read again when an update shows that it may have changed.
 */
export class CommitteeCache {
  /** Every list that this process has found, the newest first, and at the end the one that it was given. */
  #known: readonly Committee[];

  private constructor(
    private readonly dataset: DatasetContract,
    private readonly logger: Logger,
    known: readonly Committee[],
    private stored: StoredCommittee,
  ) {
    this.#known = [stored, ...known];
  }

  /**
   * @param given The committee that the dataset may have, from a deployment file.
   * @throws RpcError
   */
  static async load(dataset: DatasetContract, logger: Logger, given: Committee | null): Promise<CommitteeCache> {
    const known = given === null ? [] : [given];
    return new CommitteeCache(dataset, logger, known, await readCommittee(dataset, known));
  }

  get current(): StoredCommittee {
    return this.stored;
  }

  /**
   * Returns true if `seen` is no longer the dataset's committee; then `current` is the new one.
   *
   * @throws RpcError
   */
  async refreshIfReplaced(seen: StoredCommittee): Promise<boolean> {
    if (this.stored !== seen) return true;
    if ((await readView(this.dataset, "committeeHash")) === seen.hash) return false;
    const read = await readCommittee(this.dataset, this.#known);
    if (read.hash !== this.stored.hash) {
      const { client, address } = this.dataset;
      const { members, toleranceBps } = read;
      const fields = { network: client.chain.id, dataset: address, members, toleranceBps: Number(toleranceBps) };
      this.logger.info(fields, "the committee has changed");
      this.#known = [read, ...this.#known];
    }
    this.stored = read;
    return true;
  }
}

/**
 * Finds the present committee: the list whose hash the dataset stores, wherever it comes from. The lists that are known
 * already need no request, so they come first. Otherwise the event of it is looked for in the block that the dataset
 * names, and then in the whole chain: on chains such as Arbitrum, contracts see the block number of another chain.
 */
async function readCommittee(dataset: DatasetContract, known: readonly Committee[]): Promise<StoredCommittee> {
  const { client, address } = dataset;
  const [hash, block, head] = await Promise.all([
    readView(dataset, "committeeHash"),
    readView(dataset, "committeeBlock"),
    readBlockNumber(client),
  ]);
  const found =
    withHash(hash, [...known, ...known.flatMap(withoutOne)]) ??
    // Many nodes refuse to search a block beyond their head.
    withHash(hash, block <= head ? await readCommittees(dataset, numberToHex(block), numberToHex(block)) : []) ??
    withHash(hash, await readCommittees(dataset, "earliest", "latest"));
  if (found !== null) return found;
  const reason =
    `the committee of ${address} is not known, because no RPC endpoint gives its CommitteeChanged event, in block ` +
    `${block} or any other. Set deployment to a file that lists its members and toleranceBps, or use an RPC that ` +
    "keeps old logs";
  throw new DatasetUnreadable("failed", client.chain.id, "eth_getLogs", reason);
}

function withHash(hash: Hex, lists: readonly Committee[]): StoredCommittee | null {
  const found = lists.find((one) => committeeHash(one) === hash);
  return found === undefined ? null : { members: found.members, toleranceBps: found.toleranceBps, hash };
}

/** Returns what is left of a committee when an accusation has ejected one member. */
function withoutOne({ members, toleranceBps }: Committee): readonly Committee[] {
  return members.map((_, index) => ({ members: members.toSpliced(index, 1), toleranceBps }));
}

/** The contract's limit. */
const MAX_MEMBERS = 255;
/** How many events of each endpoint are decoded, the newest: an honest one has the present committee among the last. */
const MAX_EVENTS = 16;

/** Reads the events of a dataset's committees at every endpoint, because some prune or limit logs: none if all refuse. */
async function readCommittees(
  { client, address }: DatasetContract,
  fromBlock: Hex | "earliest",
  toBlock: Hex | "latest",
): Promise<readonly Committee[]> {
  const topics = encodeEventTopics({ abi: datasetAbi, eventName: "CommitteeChanged" });
  const filter = { address, topics, fromBlock, toBlock };
  const answers = await client.requestEach("eth_getLogs", [filter]).catch(nullFor(RpcError));
  const logs = (answers ?? [])
    .flatMap((answer) => (answer as RpcLog[]).slice(-MAX_EVENTS))
    .map((log) => formatLog(log));
  const events = parseEventLogs({ abi: datasetAbi, eventName: "CommitteeChanged", logs });
  return events.map(({ args }) => args).filter(({ members }) => members.length <= MAX_MEMBERS);
}
