import type { DatasetOverview } from "@dataset-oracle/protocol/http-schemas/overview";
import { expect, test } from "vitest";
import { countAnsweringProviders } from "../src/live/answering-providers.js";

test("a provider without an endpoint, or whose last answer could not be used, does not count as answering", () => {
  const provider = (url: string | null, failing: string | null) => ({ address: "0x", url, failing });
  const providers = [
    provider("http://a", null),
    provider("http://b", null),
    provider("http://c", "timeout"),
    provider(null, null),
  ];
  expect(countAnsweringProviders({ providers } as unknown as DatasetOverview)).toEqual({ needed: 3, answering: 2 });
});
