import type { Hex, LocalAccount } from "viem";
import { ConfigError } from "../config/config-error.js";
import { fileOf, permissionWarnings, readSecretFile } from "../config/secret-file.js";
import type { AccountSource } from "./account-source.js";
import { accountFromPrivateKey } from "./secp256k1-account.js";

/** Reads private keys, separated by white space, from the file that `<owner>_PRIVATE_KEY<suffix>_FILE` names. */
export function keysInFile(owner: string, suffix: string): AccountSource {
  const variable = `${owner}_PRIVATE_KEY${suffix}_FILE`;
  return {
    variables: [variable],
    secrets: [],
    value: "the path of a file that holds a private key",
    help: "",
    load: async ({ [variable]: path = "" }) => ({
      accounts: toAccounts(readSecretFile(path, variable), fileOf(variable)),
      warnings: permissionWarnings(path, fileOf(variable)),
    }),
  };
}

/** Reads private keys, separated by white space, from `<owner>_PRIVATE_KEY<suffix>`. */
export function keysInEnvironment(owner: string, suffix: string): AccountSource {
  const variable = `${owner}_PRIVATE_KEY${suffix}`;
  return {
    variables: [variable],
    secrets: [variable],
    value: "a private key itself, for development",
    help: "",
    load: async ({ [variable]: text = "" }) => ({ accounts: toAccounts(text, variable), warnings: [] }),
  };
}

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
