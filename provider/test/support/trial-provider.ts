import type { CheckedWebOracleSettings } from "../../src/web-oracle/check-settings.js";
import { DATASET, startProvider } from "./test-provider.js";

export const HOST = "api.weather.example";
export const OTHER_HOST = "api.other.example";

export type TrialProvider = Awaited<ReturnType<typeof startTrialProvider>>;

export interface TrialProviderOptions {
  /** The folder of its specs. */
  readonly folder: string;
  /** The http address that is asked instead of both hosts. */
  readonly redirectTo: string;
  readonly trials?: CheckedWebOracleSettings["trials"] | null;
  readonly operators?: string[];
}

/** Starts a provider that lets anyone try specs. */
export async function startTrialProvider({ folder, redirectTo, trials, operators = [] }: TrialProviderOptions) {
  const rateLimit = { perSecond: 100, burst: 100 };
  const trialSettings = trials === undefined ? { hosts: [HOST], rateLimit } : trials;
  const dataset = { name: "web", keyForm: "WEB_ORACLE" as const, keys: [], address: DATASET, kind: "median" as const };
  const provider = await startProvider(
    { redirectedOrigins: { [`https://${HOST}`]: redirectTo, [`https://${OTHER_HOST}`]: redirectTo }, operators },
    {
      deployments: [{ chainId: 42, webOracleRegistry: DATASET, datasets: [dataset] }],
      webOracle: {
        registries: [{ chainId: 42, address: DATASET, rpcUrl: "http://127.0.0.1:9" }],
        folder,
        hosts: [HOST, OTHER_HOST],
        rateLimitOf: () => rateLimit,
        ...(trialSettings && { trials: trialSettings }),
      },
    },
  );
  const post = async (path: string, body: unknown) => {
    const headers = { "content-type": "application/json" };
    const signal = AbortSignal.timeout(60_000);
    const response = await fetch(provider.url + path, { method: "POST", headers, body: JSON.stringify(body), signal });
    return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) };
  };
  return {
    close: () => provider.close(),
    tryOut: (spec: unknown, args: readonly string[] = []) => post("/specs/try", { spec, arguments: args }),
    advise: (body: object) => post("/specs/advise", body),
  };
}
