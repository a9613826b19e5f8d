import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { type FakeExchanges, startFakeExchanges } from "./fake-exchanges.js";
import { startProvider, type TestProvider } from "./test-provider.js";

/** The exchanges and the provider of a file's tests. */
interface ExchangesAndProvider {
  readonly exchanges: FakeExchanges;
  /** A new one for each test. */
  readonly provider: TestProvider;
}

/** For the tests of a file: exchanges that quote these prices before each, and a provider that reads them. */
export function useExchangesAndProvider(coinbase: string, kraken: string, bitstamp: string): ExchangesAndProvider {
  let exchanges: FakeExchanges;
  let provider: TestProvider;
  beforeAll(async () => {
    exchanges = await startFakeExchanges();
  });
  afterAll(() => exchanges.close());
  beforeEach(async () => {
    exchanges.quote(coinbase, kraken, bitstamp);
    exchanges.requests.length = 0;
    provider = await startProvider({ redirectedOrigins: exchanges.redirectedOrigins });
  });
  afterEach(() => provider.close());
  return {
    get exchanges() {
      return exchanges;
    },
    get provider() {
      return provider;
    },
  };
}
