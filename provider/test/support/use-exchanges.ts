import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { type Exchanges, startExchanges } from "../exchanges.js";
import { startProvider, type TestProvider } from "../provider.js";

/** The exchanges and the provider of a file's tests. */
interface ExchangesAndProvider {
  readonly exchanges: Exchanges;
  /** A new one for each test. */
  readonly provider: TestProvider;
}

/** For the tests of a file: exchanges that quote these prices before each, and a provider that reads them. */
export function useExchanges(coinbase: string, kraken: string, bitstamp: string): ExchangesAndProvider {
  let exchanges: Exchanges;
  let provider: TestProvider;
  beforeAll(async () => {
    exchanges = await startExchanges();
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
