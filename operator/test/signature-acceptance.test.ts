import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { compactSignature } from "@dataset-oracle/protocol/compact-signature";
import { encodeUpdate } from "@dataset-oracle/protocol/encode-update";
import { type Report, reportDigest, signReport } from "@dataset-oracle/protocol/report";
import { recoverSigner } from "@dataset-oracle/service/crypto/recover-signer";
import {
  type Address,
  type BaseError,
  concatHex,
  decodeErrorResult,
  type Hex,
  hexToBigInt,
  hexToBytes,
  numberToHex,
  slice,
} from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { beforeAll, expect, it } from "vitest";
import { type Chain, startChain } from "./support/chain.js";

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const account = privateKeyToAccount(generatePrivateKey());
const committee = { toleranceBps: 100n, members: [account.address] };

let chain: Chain;
let report: Report;
let signature: Hex;

beforeAll(async () => {
  chain = await startChain();
  const dataset: Address = await chain.deploy(committee.members);
  const round = (await chain.client.getBlock()).timestamp;
  report = { chainId: 42, dataset, key: "0x53504f5450582f4554482d555344", round, outcome: "OK", value: word(7n) };
  signature = await signReport(account, report);
});

const word = (number: bigint) => numberToHex(number, { size: 32 });
const partsOf = () => ({ r: slice(signature, 0, 32), s: slice(signature, 32, 64), v: Number(slice(signature, 64)) });

const SIGNATURES: Record<string, () => Hex> = {
  "as it was signed": () => signature,
  "with the other parity": () => change({ v: 55 - partsOf().v }),
  "with the other s, which is high": () => change({ s: word(ORDER - hexToBigInt(partsOf().s)), v: 55 - partsOf().v }),
  "with s just above half the order": () => change({ s: word((ORDER + 1n) / 2n) }),
  "with s half the order": () => change({ s: word((ORDER - 1n) / 2n) }),
  "with s zero": () => change({ s: word(0n) }),
  "with r zero": () => change({ r: word(0n) }),
  "with r the order": () => change({ r: word(ORDER) }),
  "with r above the order": () => change({ r: word(ORDER + 1n) }),
  "with r as high as can be": () => change({ r: word(2n ** 256n - 1n) }),
  "with r on no point of the curve": () => change({ r: word(5n) }),
  "of zeros, but for v": () => change({ r: word(0n), s: word(0n) }),
};

function change(parts: Partial<ReturnType<typeof partsOf>>): Hex {
  const { r, s, v } = { ...partsOf(), ...parts };
  return concatHex([r, s, numberToHex(v, { size: 1 })]);
}

it.each(Object.keys(SIGNATURES))(
  "the operator accepts a signature %s if and only if the dataset does",
  async (name) => {
    const changed = SIGNATURES[name]?.() ?? "0x";
    const signer = recoverSigner(hexToBytes(reportDigest(report)), changed);
    expect(signer === account.address).toBe(await isAccepted(changed));
    expect(await isAccepted(changed)).toBe(name === "as it was signed");
  },
);

it("the operator refuses signatures that the dataset would misread: v other than 27 and 28, or another length", async () => {
  const { r, s, v } = partsOf();
  const digest = hexToBytes(reportDigest(report));
  // The dataset reads one bit of v, so that a v that is 2 too high reads the same.
  const even = change({ v: v + 2 });
  expect(compactSignature(even).vs).not.toBe(compactSignature(signature).vs);
  for (const other of [even, change({ v: v - 27 }), concatHex([r, s]), concatHex([signature, "0x00"])]) {
    expect(recoverSigner(digest, other)).toBeNull();
  }
});

/** Returns true if a simulated call shows that the dataset would store the report with this signature. */
async function isAccepted(changed: Hex): Promise<boolean> {
  const reports = [{ provider: account.address, value: report.value, signature: changed }];
  const data = encodeUpdate("median", report, committee, "OK", reports);
  const call = chain.client.call({ to: report.dataset, data, blockTag: "pending" });
  return call.then(
    () => true,
    (error: BaseError) => {
      // Any other recovered signer, or none, is not a member of the committee.
      const { data } = error.walk((cause) => cause instanceof Error && "data" in cause) as unknown as { data: Hex };
      expect(decodeErrorResult({ abi: datasetAbi, data }).errorName).toBe("WrongCommittee");
      return false;
    },
  );
}
