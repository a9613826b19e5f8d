import { type Address, type Client, type Hex, keccak256 } from "viem";
import { getBlockNumber, getContractEvents, readContract } from "viem/actions";
import { webOracleRegistryAbi } from "../abi/web-oracle-registry.js";

/** A request spec of the Web Oracle, and where it is published. */
export interface PublishedSpecParameters {
  /** The address of the network's Web Oracle registry. */
  readonly registry: Address;
  /** The keccak-256 hash of the spec's bytes. */
  readonly specHash: Hex;
}

/**
 * Reads the bytes of a published request spec from its event. The event is looked for in the block that the registry
 * names, and otherwise in the whole chain: on chains such as Arbitrum, contracts see the block number of another chain.
 *
 * @param client Any viem client of the registry's network.
 * @returns Null if the spec was never published.
 * @throws viem's errors when there is no registry at the address, the RPC fails, or it refuses to search the whole chain.
 * An Error when the RPC does not have the event.
 */
export async function readPublishedSpec(
  client: Client,
  { registry, specHash }: PublishedSpecParameters,
): Promise<Hex | null> {
  const contract = { address: registry, abi: webOracleRegistryAbi } as const;
  const block = await readContract(client, { ...contract, functionName: "publishedAt", args: [specHash] });
  if (block === 0n) return null;
  // Many nodes refuse to search a block beyond their head.
  const isOnChain = block <= (await getBlockNumber(client, { cacheTime: 0 }));
  const find = async (fromBlock: bigint | "earliest", toBlock: bigint | "latest") => {
    const event = { eventName: "SpecPublished", args: { specHash }, strict: true } as const;
    const events = await getContractEvents(client, { ...contract, ...event, fromBlock, toBlock });
    return events.find(({ args }) => keccak256(args.spec) === specHash);
  };
  const found = (isOnChain ? await find(block, block) : undefined) ?? (await find("earliest", "latest"));
  if (found === undefined) {
    throw new Error(
      `No block has the event with the bytes of spec ${specHash}, which the registry places in block ${block}. Use ` +
        "an RPC that keeps the events of old blocks.",
    );
  }
  return found.args.spec;
}
