import { WrongChainError } from "@dataset-oracle/protocol";
import { webOracleRegistryAbi } from "@dataset-oracle/protocol/abi/web-oracle-registry";
import { type Address, type EIP1193Provider, type Hex, isAddressEqual, parseEventLogs } from "viem";
import { getChainId, sendTransaction, waitForTransactionReceipt } from "viem/actions";
import { type Sending, sendFromWallet } from "../wallet/send-from-wallet";

/** The transaction that publishes a spec. */
interface Publication {
  readonly chainId: number;
  /** The registry. */
  readonly to: Address;
  readonly data: Hex;
  readonly value: bigint;
}

const TIMEOUT_MS = 180_000;

/** Publishes a spec from a wallet. Never throws. */
export const publishFromWallet = (
  provider: EIP1193Provider,
  publication: Publication,
  specHash: Hex,
  onStep: (sending: Sending) => void,
): Promise<void> =>
  sendFromWallet(provider, publication, onStep, async (client, { account, onSent }) => {
    const { chainId, to, data, value } = publication;
    const current = await getChainId(client);
    if (current !== chainId) throw new WrongChainError(current, chainId);
    const hash = await sendTransaction(client, { account: account ?? null, chain: null, to, data, value });
    onSent(hash);
    const receipt = await waitForTransactionReceipt(client, { hash, timeout: TIMEOUT_MS });
    const events = parseEventLogs({ abi: webOracleRegistryAbi, eventName: "SpecPublished", logs: receipt.logs });
    const isStored = events.some(({ address, args }) => isAddressEqual(address, to) && args.specHash === specHash);
    return { receipt, isStored };
  });
