import { type Address, type Hex, hashTypedData, keccak256, type LocalAccount, stringToBytes } from "viem";

/** The header with the time and the signature of a request: `1790000000000 0x...`. */
export const NODE_SIGNATURE_HEADER = "node-signature";

/** A request from one node to another, as the sender's submitter signs it. */
export interface NodeRequest {
  readonly chainId: number;
  /** The path below the receiver's base URL. */
  readonly path: string;
  /** The JSON as it is sent, as JSON.stringify writes it. */
  readonly body: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** The submitter of the node that it is for. */
  readonly receiver: Address;
}

function typedData({ chainId, path, body, time, receiver }: NodeRequest) {
  return {
    domain: { name: "Dataset Oracle node", version: "1", chainId },
    types: {
      NodeRequest: [
        { name: "method", type: "string" },
        { name: "path", type: "string" },
        { name: "bodyHash", type: "bytes32" },
        { name: "time", type: "uint256" },
        { name: "receiver", type: "address" },
      ],
    },
    primaryType: "NodeRequest",
    message: { method: "POST", path, bodyHash: keccak256(stringToBytes(body)), time: BigInt(time), receiver },
  } as const;
}

/** Returns the EIP-712 digest that the sender's submitter signs. */
export function nodeRequestDigest(request: NodeRequest): Hex {
  return hashTypedData(typedData(request));
}

/** Signs a request, and returns the header's value. */
export async function signNodeRequest(submitter: LocalAccount, request: NodeRequest): Promise<string> {
  return `${request.time} ${await submitter.signTypedData(typedData(request))}`;
}
