import { type Address, type Client, type Hex, keccak256 } from "viem";
import { getContractEvents, readContract } from "viem/actions";
import { webOracleRegistryAbi } from "../abi/web-oracle-registry.js";

/** A request spec of the Web Oracle, and where it is published. */
export interface PublishedSpecParameters {
  /** The address of the network's Web Oracle registry. */
  readonly registry: Address;
  /** The keccak-256 hash of the spec's bytes. */
  readonly specHash: Hex;
}

/**
 * Reads the bytes of a published request spec.
 *
 * @param client Any viem client of the registry's network.
 * @returns Null if the spec was never published.
 * @throws viem's errors when there is no registry at the address, or the RPC fails. An Error when the RPC does not have
 * the event of the block in which the spec was published.
 */
export async function readPublishedSpec(
  client: Client,
  { registry, specHash }: PublishedSpecParameters,
): Promise<Hex | null> {
  const contract = { address: registry, abi: webOracleRegistryAbi } as const;
  const block = await readContract(client, { ...contract, functionName: "publishedAt", args: [specHash] });
  if (block === 0n) return null;
  const events = await getContractEvents(client, {
    ...contract,
    eventName: "SpecPublished",
    args: { specHash },
    fromBlock: block,
    toBlock: block,
    strict: true,
  });
  const found = events.find(({ args }) => keccak256(args.spec) === specHash);
  if (found === undefined) {
    throw new Error(
      `Block ${block} has no event with the bytes of spec ${specHash}. Use an RPC that keeps the events of old blocks.`,
    );
  }
  return found.args.spec;
}
