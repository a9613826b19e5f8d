import { afterAll, beforeEach } from "vitest";
import { startFakeExchanges } from "./fake-exchanges.js";
import { startProvider } from "./test-provider.js";

/** For the tests of a file: exchanges that quote these prices before each, and a provider that reads them. */
export async function useExchangesAndProvider(coinbase: string, kraken: string, bitstamp: string) {
  const exchanges = await startFakeExchanges();
  const provider = await startProvider({ redirectedOrigins: exchanges.redirectedOrigins });
  afterAll(async () => {
    await provider.close();
    await exchanges.close();
  });
  beforeEach(() => {
    // Nothing is decided of these rounds yet.
    provider.clock.now += 3;
    provider.logs.length = 0;
    exchanges.quote(coinbase, kraken, bitstamp);
    exchanges.requests.length = 0;
  });
  return { exchanges, provider };
}
