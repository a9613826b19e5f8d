import type { Hex, LocalAccount } from "viem";
import { ConfigError } from "../config/config-error.js";
import { fileOf, permissionWarnings, readSecretFile } from "../config/secret-file.js";
import type { AccountSource } from "./account-source.js";
import { accountFromPrivateKey } from "./secp256k1-account.js";

/** Reads private keys, separated by white space, from an environment variable. */
export const keysInEnvironment = (variable: string): AccountSource => ({
  variables: [variable],
  secrets: [variable],
  load: async ({ [variable]: text = "" }) => ({ accounts: toAccounts(text, variable), warnings: [] }),
});

/** Reads private keys, separated by white space, from the file that an environment variable names. */
export const keysInFile = (variable: string): AccountSource => ({
  variables: [variable],
  secrets: [],
  load: async ({ [variable]: path = "" }) => ({
    accounts: toAccounts(readSecretFile(path, variable), fileOf(variable)),
    warnings: permissionWarnings(path, fileOf(variable)),
  }),
});

const toAccounts = (text: string, source: string) =>
  text
    .trim()
    .split(/\s+/)
    .map((key) => toAccount(key, source));

function toAccount(key: string, source: string): LocalAccount {
  const problem =
    `${source} does not hold a private key. Write "0x" and 64 hex digits, for a number above 0 and below the ` +
    "curve's order.";
  if (!/^0x[0-9a-fA-F]{64}$/.test(key)) throw new ConfigError(problem);
  try {
    return accountFromPrivateKey(key as Hex);
  } catch {
    // The library's error is dropped: it could hold the key.
    throw new ConfigError(problem);
  }
}
