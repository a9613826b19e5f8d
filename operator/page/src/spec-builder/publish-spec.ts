import type { UpdateTransaction } from "@dataset-oracle/protocol";
import { webOracleRegistryAbi } from "@dataset-oracle/protocol/abi/web-oracle-registry";
import { sendAndWait } from "@dataset-oracle/protocol/client/send-and-wait";
import { type EIP1193Provider, type Hex, isAddressEqual, parseEventLogs } from "viem";
import { type Sending, sendFromWallet } from "../wallet/send-from-wallet";

/** Publishes a spec from a wallet, by a transaction to the registry. Never throws. */
export const publishFromWallet = (
  provider: EIP1193Provider,
  transaction: Omit<UpdateTransaction, "gas">,
  specHash: Hex,
  onStep: (sending: Sending) => void,
): Promise<void> =>
  sendFromWallet(provider, transaction, onStep, async (client, options) => {
    const { receipt } = await sendAndWait(client, { transaction, ...options });
    const events = parseEventLogs({ abi: webOracleRegistryAbi, eventName: "SpecPublished", logs: receipt.logs });
    const isStored = events.some(
      ({ address, args }) => isAddressEqual(address, transaction.to) && args.specHash === specHash,
    );
    return { receipt, isStored };
  });
