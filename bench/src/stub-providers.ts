// Stands in for the providers of a committee, all in one process: signs whatever it is asked for, at once, with values that
// do not move. It is told the number of members, and sends their addresses and URLs to the parent process.

import { json } from "node:stream/consumers";
import { deriveAccount } from "@dataset-oracle/devnet/accounts";
import { startLocalServer } from "@dataset-oracle/devnet/test-support/local-server";
import { FastReportDigests } from "@dataset-oracle/protocol/fast-report-digests";
import { keccak } from "@dataset-oracle/service/crypto/keccak";
import { accountFromPrivateKey } from "@dataset-oracle/service/keys/secp256k1-account";
import { type Address, bytesToHex, type Hex, type LocalAccount, numberToHex, parseEther } from "viem";
import { signHash } from "./sign-hash.js";

const VALUE = numberToHex(parseEther("100"), { size: 32 });
const NOTHING_MISSING = numberToHex(0, { size: 32 });
/** The index of the first member's account: the accounts before it have other uses. */
const FIRST = 20;

/** What a request for one report or for a row has. */
interface Asked {
  readonly network_id: number;
  readonly dataset: Address;
  readonly timestamp: number;
}

/** By dataset. */
const digests = new Map<Address, FastReportDigests>();
const digestsOf = ({ network_id, dataset }: Asked) => {
  const known = digests.get(dataset) ?? new FastReportDigests(network_id, dataset, keccak);
  digests.set(dataset, known);
  return known;
};

/** Answers `POST /report`. */
async function report(account: LocalAccount, asked: Asked & { readonly key: Hex }) {
  const digest = digestsOf(asked).of({ key: asked.key, round: BigInt(asked.timestamp) })("OK", VALUE);
  const signature = await signHash(account, bytesToHex(digest));
  return { ...asked, provider: account.address, outcome: "OK", value: VALUE, signature };
}

/** Answers `POST /report/batch`. */
async function row(account: LocalAccount, asked: Asked & { readonly keys: readonly Hex[] }) {
  const values = asked.keys.map(() => VALUE);
  const signed = { keys: asked.keys, missing: 0n, values, round: BigInt(asked.timestamp) };
  const signature = await signHash(account, bytesToHex(digestsOf(asked).ofRow(signed)));
  return { ...asked, provider: account.address, missing: NOTHING_MISSING, values, signature };
}

async function start(account: LocalAccount) {
  const { server, url } = await startLocalServer(async (request, response) => {
    const asked = (await json(request)) as Asked & { key: Hex; keys: Hex[] };
    const answer = request.url === "/report/batch" ? row : report;
    const text = JSON.stringify(await answer(account, asked));
    response.writeHead(200, { "content-type": "application/json" }).end(text);
  });
  // As a provider's: a connection that the server closes while it is idle fails the next request.
  server.keepAliveTimeout = 72_000;
  return { address: account.address, url };
}

const accounts = Array.from({ length: Number(process.argv[2]) }, (_, index) =>
  accountFromPrivateKey(deriveAccount(FIRST + index).privateKey),
);
// A committee is in the order of its members' addresses.
accounts.sort((a, b) => (BigInt(a.address) < BigInt(b.address) ? -1 : 1));
process.send?.(await Promise.all(accounts.map(start)));
process.once("disconnect", () => process.exit());
