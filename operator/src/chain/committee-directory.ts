import { committeeDirectoryAbi } from "@dataset-oracle/protocol/abi/committee-directory";
import type { Announcement } from "@dataset-oracle/protocol/node-announcement";
import type { Address } from "viem";
import { getContractEvents, readContract } from "viem/actions";
import type { ChainClient } from "./client.js";
import { unwrapRpcError } from "./rpc-error.js";

/** The most providers whose announcements are read at a time. */
const MAX_AT_ONCE = 8;

/** An announcement's event in the directory. Its id depends on the block, so that a reorganization changes it. */
export interface AnnouncementEvent {
  readonly id: string;
  readonly blockNumber: number;
}

/**
 * Reads the latest announcements of some providers.
 *
 * @returns One for each provider that announced anything, unless it cannot be found.
 * @throws RpcError
 */
export async function readAnnouncements(
  client: ChainClient,
  directory: Address,
  providers: readonly Address[],
): Promise<readonly Announcement[]> {
  const found: Announcement[] = [];
  for (let at = 0; at < providers.length; at += MAX_AT_ONCE) {
    const some = providers.slice(at, at + MAX_AT_ONCE);
    const read = await Promise.all(some.map((provider) => readLatest(client, directory, provider)));
    found.push(...read.flatMap((announcement) => announcement ?? []));
  }
  return found;
}

/** Lists the announcement events of some providers, from block `from` on. */
export async function readAnnouncementEvents(
  client: ChainClient,
  directory: Address,
  providers: readonly Address[],
  from: number,
): Promise<readonly AnnouncementEvent[]> {
  const events = await readEvents(client, directory, providers, BigInt(from), "latest");
  return events.map(({ blockHash, blockNumber, logIndex }) => {
    return { id: `${blockHash} ${logIndex}`, blockNumber: Number(blockNumber) };
  });
}

/**
 * Finds a provider's latest announcement in the block that the directory names, and otherwise in the whole chain: on
 * chains such as Arbitrum, contracts see the block number of another chain.
 */
async function readLatest(client: ChainClient, address: Address, provider: Address): Promise<Announcement | null> {
  const contract = { address, abi: committeeDirectoryAbi, functionName: "announcementOf", args: [provider] } as const;
  const [issuedAt, block] = await unwrapRpcError(client, "eth_call", readContract(client, contract));
  if (issuedAt === 0n) return null;
  const find = async (from: bigint | "earliest", to: bigint | "latest") => {
    const events = await readEvents(client, address, [provider], from, to);
    return events.findLast(({ args }) => args.issuedAt === issuedAt)?.args ?? null;
  };
  return (await find(block, block)) ?? (await find("earliest", "latest"));
}

function readEvents(
  client: ChainClient,
  address: Address,
  providers: readonly Address[],
  fromBlock: bigint | "earliest",
  toBlock: bigint | "latest",
) {
  const contract = { address, abi: committeeDirectoryAbi, eventName: "Announced" } as const;
  const events = getContractEvents(client, {
    ...contract,
    args: { provider: [...providers] },
    fromBlock,
    toBlock,
    strict: true,
  });
  return unwrapRpcError(client, "eth_getLogs", events);
}
