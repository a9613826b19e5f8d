import { setTimeout as delay } from "node:timers/promises";
import { NODE_SIGNATURE_HEADER, signNodeRequest } from "@dataset-oracle/protocol/node-request-signature";
import { signReport } from "@dataset-oracle/protocol/report";
import { accountFromPrivateKey } from "@dataset-oracle/service/keys/secp256k1-account";
import { type Address, numberToHex, stringToHex } from "viem";
import { generatePrivateKey } from "viem/accounts";
import type { Member } from "./member.js";

/** The pause between bursts of three requests to each node, about what the limits let one address send. */
const PAUSE_MS = 50;
const KEY = stringToHex("SPOTPX/BTC-USD");

/** How many times each path was answered with each status, or `no answer`. */
export type Answers = ReadonlyMap<string, number>;

/**
 * Sends nodes, all the time, what only members may send: transactions, reports and forwarded requests of a stranger. It
 * signs with libsecp256k1: signing in JavaScript would take half of the CPU time that all hosts share here, and a
 * stranger has a machine of its own.
 *
 * @returns A function that stops it and returns the answers.
 */
export function startFlood(members: readonly Member[], dataset: Address): () => Promise<Answers> {
  const stranger = accountFromPrivateKey(generatePrivateKey());
  const ending = new AbortController();
  const answers = new Map<string, number>();
  const post = async (base: string, path: string, body: string, headers: Record<string, string> = {}) => {
    const signal = AbortSignal.any([ending.signal, AbortSignal.timeout(2_000)]);
    const init = { method: "POST", body, headers: { "content-type": "application/json", ...headers }, signal };
    const said = await fetch(`${base}${path}`, init).then(
      async (response) => `${path} ${response.status} ${response.ok ? await response.text() : ""}`.trim(),
      () => `${path} no answer`,
    );
    answers.set(said, (answers.get(said) ?? 0) + 1);
  };
  const floods = members.map(async ({ nodeUrl, submitter }) => {
    for (let nonce = 0; !ending.signal.aborted; nonce++) {
      const round = Math.floor(Date.now() / 1000) - 2;
      const raw = await stranger.signTransaction({
        chainId: 42,
        nonce,
        to: dataset,
        gas: 500_000n,
        gasPrice: 10n ** 10n,
      });
      const value = numberToHex(nonce + 1, { size: 32 });
      const report = { chainId: 42, dataset, key: KEY, round: BigInt(round), outcome: "OK", value } as const;
      const signature = await signReport(stranger, report);
      const asked = { network_id: 42, dataset, key: KEY, timestamp: round };
      const forwarded = JSON.stringify(asked);
      const path = "/data/request/forwarded";
      const request = { chainId: 42, path, body: forwarded, time: Date.now(), receiver: submitter.address };
      await Promise.all([
        post(nodeUrl, "/transactions", JSON.stringify({ network_id: 42, raw })),
        post(
          nodeUrl,
          "/reports",
          JSON.stringify([{ ...asked, provider: stranger.address, outcome: "OK", value, signature }]),
        ),
        post(nodeUrl, path, forwarded, { [NODE_SIGNATURE_HEADER]: await signNodeRequest(stranger, request) }),
      ]);
      await delay(PAUSE_MS, undefined, { signal: ending.signal }).catch(() => {});
    }
  });
  return async () => {
    ending.abort();
    await Promise.all(floods);
    return answers;
  };
}
