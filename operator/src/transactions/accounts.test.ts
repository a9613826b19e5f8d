import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { pino } from "pino";
import { expect, test } from "vitest";
import { checkSigners } from "./accounts.js";

test("at the start, a signer without the account is a mistake, and one that is away is logged once", async () => {
  const log: string[] = [];
  const logger = pino({}, { write: (line: string) => log.push(line) });
  const startWith = (error: Error) => {
    const loaded = { accounts: [], warnings: [], check: () => Promise.reject(error) };
    return checkSigners(
      new Map([
        [1, loaded],
        [42, loaded],
      ]),
      logger,
    );
  };
  await expect(startWith(new ConfigError("It does not have the account."))).rejects.toThrow(ConfigError);
  await startWith(new Error("away"));
  expect(log.map((line) => JSON.parse(line))).toMatchObject([
    { reason: "Error: away", msg: "the signer cannot be asked for its accounts" },
  ]);
});
