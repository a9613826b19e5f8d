import { DEFAULT_HEARTBEAT_SECONDS } from "@dataset-oracle/devnet/options";
import { PRICE_FEED_POLICY } from "@dataset-oracle/devnet/start-services";
import { expect, test } from "vitest";
import { blocksOf } from "./code-blocks.js";
import { settingsOf } from "./script-settings.js";

test("docs/Relaying.md shows the feeds of the devnet", () => {
  const block = blocksOf("docs/Relaying.md").find(({ text }) => text.startsWith('"feeds"'));
  expect(JSON.parse(`{${block?.text}}`)).toEqual({
    feeds: [
      {
        dataset: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
        keys: settingsOf(42).financial.keys,
        heartbeatSeconds: DEFAULT_HEARTBEAT_SECONDS,
        ...PRICE_FEED_POLICY,
      },
    ],
  });
});
