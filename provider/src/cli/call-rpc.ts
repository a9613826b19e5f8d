import { ConfigError } from "@dataset-oracle/service/config/config-error";

/** The deadline of each call to an endpoint that a command's user names. */
export const RPC_MS = 10_000;

/** Calls an endpoint. Its error leaves out most of viem's message, which contains the endpoint's URL and so perhaps a token. */
export async function callRpc<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const { details, name } = error as { details?: string; name?: string };
    throw new ConfigError(`The RPC endpoint failed or refused the call: ${details || name}. Check --rpc-url.`);
  }
}
