import { updateGatewayAbi } from "@dataset-oracle/protocol/abi/update-gateway";
import { MAX_KEY_BYTES } from "@dataset-oracle/protocol/max-key-bytes";
import type { Result } from "@dataset-oracle/protocol/result";
import { type Address, decodeFunctionData, encodeFunctionData, type Hex } from "viem";

/**
 * The characters of a call with the longest key: "0x", the selector, the dataset, the key's offset and length, the key.
 */
const MAX_CALLDATA_CHARACTERS = 2 + 2 * (4 + 3 * 32 + MAX_KEY_BYTES);

/** The data point that a lens asks about. */
interface FetchUpdateCall {
  readonly dataset: Address;
  readonly key: Hex;
}

/**
 * Parses the calldata of `fetchUpdate(address,bytes)`. It must be exactly what a lens encodes: the ABI's decoder would
 * also take other offsets, dirty padding and trailing bytes.
 *
 * @returns The call, or the error as a sentence.
 */
export function parseFetchUpdateCall(data: string): Result<FetchUpdateCall, string> {
  const call = data.toLowerCase();
  if (call.length > MAX_CALLDATA_CHARACTERS || !/^0x[0-9a-f]*$/.test(call)) {
    return { ok: false, error: `The data must be hex after "0x", with at most ${MAX_CALLDATA_CHARACTERS} characters.` };
  }
  try {
    const { functionName, args } = decodeFunctionData({ abi: updateGatewayAbi, data: call as Hex });
    const [dataset, key] = args;
    if (encodeFunctionData({ abi: updateGatewayAbi, functionName, args }) === call) {
      return { ok: true, value: { dataset, key } };
    }
  } catch {
    // The sentence below says what is missing.
  }
  return { ok: false, error: "The data must be the calldata of fetchUpdate(address,bytes), as a lens encodes it." };
}
