import {
  type Address,
  encodeFunctionData,
  type Hex,
  hashTypedData,
  type LocalAccount,
  type TypedDataDomain,
} from "viem";
import { committeeDirectoryAbi } from "./abi/committee-directory.js";

/** Where a provider answers, as it announces it in the directory of its network. */
export interface Announcement {
  /** The account that signs the provider's reports. */
  readonly provider: Address;
  /** The provider's base URL; empty to withdraw it. */
  readonly url: string;
  /** When the provider signed, in seconds since 1970. */
  readonly issuedAt: bigint;
}

/** The directory of one network. */
export interface Directory {
  readonly chainId: number;
  readonly address: Address;
}

/** The maximum length of a URL that the directory takes, in bytes of UTF-8. */
export const MAX_ANNOUNCED_URL_BYTES = 256;

/** The EIP-712 type that `ICommitteeDirectory` documents. */
export const ANNOUNCEMENT_TYPES = {
  Announcement: [
    { name: "provider", type: "address" },
    { name: "url", type: "string" },
    { name: "issuedAt", type: "uint256" },
  ],
} as const;

/** Returns the EIP-712 domain of a directory. */
export function announcementDomain({ chainId, address }: Directory): TypedDataDomain {
  return { name: "CommitteeDirectory", version: "1", chainId, verifyingContract: address };
}

function typedData(directory: Directory, message: Announcement) {
  return {
    domain: announcementDomain(directory),
    types: ANNOUNCEMENT_TYPES,
    primaryType: "Announcement",
    message,
  } as const;
}

/** Returns the EIP-712 digest that a provider signs. */
export function announcementDigest(directory: Directory, announcement: Announcement): Hex {
  return hashTypedData(typedData(directory, announcement));
}

/**
 * Signs an announcement with the key of its provider.
 *
 * @returns 65 bytes: r, s (the lower one), v (27 or 28).
 */
export function signAnnouncement(
  account: LocalAccount,
  directory: Directory,
  announcement: Omit<Announcement, "provider">,
): Promise<Hex> {
  return account.signTypedData(typedData(directory, { ...announcement, provider: account.address }));
}

/** Returns the calldata of the directory's `announce`, which anyone may send. */
export function encodeAnnouncement({ provider, url, issuedAt }: Announcement, signature: Hex): Hex {
  return encodeFunctionData({
    abi: committeeDirectoryAbi,
    functionName: "announce",
    args: [provider, url, issuedAt, signature],
  });
}
