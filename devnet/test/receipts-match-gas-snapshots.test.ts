import { execFile } from "node:child_process";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { foundryBinary, foundryEnv } from "@dataset-oracle/tools/foundry";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { type Address, createTestClient, type Hex, http, publicActions, walletActions } from "viem";
import { expect, onTestFinished, test } from "vitest";
import { startAnvil } from "../src/anvil.js";

/** test/gas/GasFixture.sol writes its measurements here. */
const FOLDER = join(ROOT, ".devnet/gas");

/** The chain id of forge's tests, for which the providers signed. */
const CHAIN_ID = 31_337;

interface MeasuredCall {
  readonly name: string;
  readonly to: Address;
  readonly data: Hex;
  /** The block's, in seconds since 1970. */
  readonly timestamp: number;
}

interface AccountState {
  readonly balance: Hex;
  readonly code: Hex;
  readonly storage: Record<Hex, Hex>;
}

const readJson = (path: string) => JSON.parse(readFileSync(path, "utf8"));

/** The recorded gas of each transaction. A query is a call, whose gas no receipt shows. */
const snapshots = Object.fromEntries(
  ["update", "batch", "consumer-update", "accuse", "majority"]
    .flatMap((file) => Object.entries<string>(readJson(join(ROOT, `snapshots/${file}.json`))))
    .filter(([name]) => !name.startsWith("query,")),
);

test("anvil's receipts have the gas of the snapshots for the same calldata", async () => {
  rmSync(FOLDER, { recursive: true, force: true });
  await promisify(execFile)(foundryBinary("forge"), ["test", "--isolate", "--match-path", "test/gas/*"], {
    cwd: ROOT,
    env: { ...foundryEnv(), RECORD_GAS: "true", FORGE_SNAPSHOT_CHECK: "true" },
  });
  const measurements = readdirSync(FOLDER)
    .filter((file) => !file.endsWith(".state.json"))
    .map((file) => {
      const state: Record<Address, AccountState> = readJson(join(FOLDER, file.replace(/json$/, "state.json")));
      return { ...(readJson(join(FOLDER, file)) as MeasuredCall), state };
    });

  const first = Math.min(...measurements.map(({ timestamp }) => timestamp));
  const anvil = await startAnvil({ chainId: CHAIN_ID, timestamp: first - 10 });
  onTestFinished(() => anvil.close());
  const client = createTestClient({ mode: "anvil", transport: http(anvil.url), pollingInterval: 20 })
    .extend(publicActions)
    .extend(walletActions);
  // A block of another second would take the timestamp that is set for the one with the transaction.
  await client.setIntervalMining({ interval: 0 });
  const [account] = await client.getAddresses();
  if (account === undefined) throw new Error("anvil has no account.");

  const receipts: Record<string, string> = {};
  for (const { name, to, data, timestamp, state } of measurements) {
    const empty = await client.snapshot();
    for (const [address, { balance, code, storage }] of Object.entries(state) as [Address, AccountState][]) {
      if (code === "0x") continue;
      await client.setCode({ address, bytecode: code });
      await client.setBalance({ address, value: BigInt(balance) });
      for (const [index, value] of Object.entries(storage) as [Hex, Hex][]) {
        await client.setStorageAt({ address, index, value });
      }
    }
    await client.setNextBlockTimestamp({ timestamp: BigInt(timestamp) });
    const hash = await client.sendTransaction({ account, to, data, gas: 10_000_000n, chain: null });
    await client.mine({ blocks: 1 });
    const { status, gasUsed } = await client.waitForTransactionReceipt({ hash });
    expect([name, status]).toEqual([name, "success"]);
    receipts[name] = gasUsed.toString();
    await client.revert({ id: empty });
  }
  expect(receipts).toEqual(snapshots);
}, 600_000);
