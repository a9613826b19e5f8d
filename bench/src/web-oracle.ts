// Specs of the Web Oracle that make any number of keys from one answer, and what providers need to serve it.

import { gzipSync } from "node:zlib";
import { type ServicePlace, webOracleSettings } from "@dataset-oracle/devnet/network-services";
import { startLocalServer } from "@dataset-oracle/devnet/test-support/local-server";
import { webOracleKey } from "@dataset-oracle/protocol/web-oracle-key";
import { type Hex, keccak256, stringToHex } from "viem";

const ORIGIN = "https://api.bench.example";

/** Writes a spec in canonical JSON: one URL, and the variable in the path. */
const specOf = (urlPath: string) =>
  `{"combine":"median","minSources":1,"sources":[{"decimals":0,"method":"GET","path":"$['{name}']",` +
  `"rounding":"half-even","type":"uint","url":"${ORIGIN}${urlPath}"}],"title":"a benchmark","variables":[` +
  `{"characters":"alphanumeric","maxLength":100,"minLength":1,"name":"name","type":"string"}]}`;

/** A spec that can be read, and one whose API answers with an error. */
export const SPECS = [specOf("/all"), specOf("/failing")] as const;

const [SPEC_HASH, FAILING_HASH] = SPECS.map((spec) => keccak256(stringToHex(spec)));

/** The hash of a published spec whose API answers with an error. */
export const FAILING_SPEC_HASH = FAILING_HASH as Hex;

/** Returns a key that was never asked for, of almost 256 bytes. @param specHash That of the spec that can be read by default. */
export function newWebOracleKey(specHash = SPEC_HASH as Hex): Hex {
  next += 1;
  const key = webOracleKey({ specHash, args: [`n${String(next).padStart(99, "0")}`] });
  if (!key.ok) throw new Error(key.error);
  return key.value;
}
let next = 0;

/** Starts the API of the specs, whose answers have 800 KB and none of the names; a failure's is compressed. */
export function startApi() {
  const answer = JSON.stringify({ values: Array(200_000).fill(1.5) });
  const failure = gzipSync(answer);
  return startLocalServer(({ url }, response) =>
    url === "/failing"
      ? response.writeHead(500, { "content-type": "application/json", "content-encoding": "gzip" }).end(failure)
      : response.writeHead(200, { "content-type": "application/json" }).end(answer),
  );
}

/** Returns what a provider needs to serve the specs; nothing without an API. */
export function webOracle(apiUrl: string | undefined, place: ServicePlace, name: string) {
  if (apiUrl === undefined) return { redirects: {}, settings: {} };
  return {
    redirects: { [ORIGIN]: apiUrl },
    settings: {
      trustedProxies: ["127.0.0.1"],
      anonymousRequestsPerMinute: 1_000_000_000,
      webOracle: { ...webOracleSettings(place, name), hosts: ["api.bench.example"], rateLimit: undefined },
      evidence: { folder: `${name}-evidence`, maxMegabytes: 1_000 },
    },
  };
}
