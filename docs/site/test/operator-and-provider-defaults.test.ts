import { OperatorConfig } from "@dataset-oracle/operator/dist/config.js";
import { ProviderConfig } from "@dataset-oracle/provider/dist/config.js";
import { expect, test } from "vitest";

test("an operator waits for a provider that waits for a source which never answers", () => {
  const { sourceTimeoutMs } = ProviderConfig.properties;
  const { providerTimeoutMs } = OperatorConfig.properties.networks.items.properties;
  expect(providerTimeoutMs.default).toBeGreaterThanOrEqual((sourceTimeoutMs.maximum ?? Number.NaN) + 1_000);
});
