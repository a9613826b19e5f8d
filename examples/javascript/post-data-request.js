import { DATASET, NETWORK_ID, OPERATOR } from "./devnet-addresses.js";

/**
 * Posts a data request without the client of `@dataset-oracle/protocol`, which is for viem. With `broadcast: false`,
 * the operator sends nothing and returns the packed update, and the transaction that stores it.
 */
export async function postDataRequest(key, broadcast) {
  const response = await fetch(`${OPERATOR}/data/request`, {
    method: "POST",
    headers: { "content-type": "application/json", prefer: "wait=20" },
    body: JSON.stringify({ network_id: NETWORK_ID, dataset: DATASET, key, broadcast }),
    signal: AbortSignal.timeout(60_000),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(`${answer.title} ${answer.detail}`);
  return answer;
}
