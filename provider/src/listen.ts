import type { App } from "@dataset-oracle/service/app";
import { ConfigError } from "@dataset-oracle/service/config";

/** @throws ConfigError when the address can't be listened on. */
export async function listen(app: App, { host, port }: { host: string; port: number }): Promise<void> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE") throw new ConfigError(`Port ${port} on ${host} is in use. Choose another "port".`);
    if (code === "EADDRNOTAVAIL" || code === "EACCES" || code === "ENOTFOUND") {
      throw new ConfigError(`${host}:${port} cannot be listened on (${code}). Change "host" or "port".`);
    }
    throw error;
  }
}
