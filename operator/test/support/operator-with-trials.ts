import type { SpecTrial, SpecTrialRequest } from "@dataset-oracle/protocol/http-schemas/spec-trial";
import { specHash } from "@dataset-oracle/protocol/spec-hash";
import { webOracleKey } from "@dataset-oracle/protocol/web-oracle-key";
import { hexToString, stringToHex } from "viem";
import { startChain } from "./chain.js";
import { startOperator } from "./operator.js";
import { type Provider, startProviders } from "./stub-providers.js";

export const SPEC = { a: "spec", b: [1, 2.5] };
export const ARGS = ["São Paulo"];

export type OperatorWithTrials = Awaited<ReturnType<typeof startOperatorWithTrials>>;

/**
 * Starts an operator of a Web Oracle dataset and of a dataset of prices, with four providers. Trials are off at first.
 */
export async function startOperatorWithTrials() {
  const [chain, providers] = await Promise.all([startChain(42), startProviders(4)]);
  const members = providers.map(({ address }) => address);
  const dataset = await chain.deploy(members, { keyForm: "WEB_ORACLE" });
  const prices = await chain.deploy(members);
  const web = { name: "web", address: dataset, kind: "median" as const, keyForm: "WEB_ORACLE" as const, keys: [] };
  const { base } = await startOperator([{ chain, datasets: [web, prices], providers }]);
  /** Posts a request about `SPEC` with `ARGS`, except for what `body` changes. */
  const post = (
    path: string,
    body: object,
    headers: Record<string, string> = {},
    signal = AbortSignal.timeout(60_000),
  ) =>
    fetch(base + path, {
      method: "POST",
      signal,
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ network_id: 42, dataset, spec: SPEC, arguments: ARGS, ...body }),
    });
  return { providers, prices, post };
}

/** The trial of a spec as a provider answers it. Its JSON is canonical as it is written. */
export function trialOf({ address }: Provider, { spec, arguments: args }: SpecTrialRequest, value = "7"): SpecTrial {
  const bytes = stringToHex(JSON.stringify(spec));
  const hash = specHash(bytes);
  const key = webOracleKey({ specHash: hash.ok ? hash.value : "0x", args });
  if (!hash.ok || !key.ok) throw new Error("This is no spec.");
  const url = "https://api.example.com/";
  return {
    provider: address,
    spec_hash: hash.value,
    spec_bytes: bytes,
    kind: "median",
    type: "uint",
    key: hexToString(key.value),
    key_hex: key.value,
    output: `0x${"00".repeat(31)}07`,
    sources: [
      {
        name: "/sources/0",
        fetched: { method: "GET", url, status: 200, bytes: 1, sha256: "00".repeat(32), ms: 1 },
        selected: { path: "$", text: value },
        scaled: { value, text: `${value} K` },
        error: null,
      },
    ],
    combined: { how: "median", min_sources: 1, with_value: 1, status: "OK", reason: null, value, text: `${value} K` },
  };
}

/** A provider's answer to a trial that it refuses. */
export const problem =
  (status: number, code: string, extras: object = {}) =>
  () => ({
    status,
    code,
    title: "No.",
    detail: "No.",
    ...extras,
  });
