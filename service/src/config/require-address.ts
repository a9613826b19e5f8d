import { parseAddress } from "@dataset-oracle/protocol/address";
import type { Address } from "viem";
import { ConfigError } from "./config-error.js";

/**
 * Parses a setting that is an address.
 *
 * @param where Names the setting in the error.
 * @throws ConfigError
 */
export function requireAddress(text: string, where: string): Address {
  const address = parseAddress(text);
  if (!address.ok) throw new ConfigError(`${where}: ${address.error}`);
  return address.value;
}
