import type { App } from "./app.js";
import { ConfigError } from "./config.js";

/** @throws ConfigError when the address can't be listened on. */
export async function listen(app: App, { host, port }: { host: string; port: number }): Promise<void> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE") throw new ConfigError(`Port ${port} on ${host} is in use. Choose another "port".`);
    // The system refuses the address, or does not find the host.
    if (syscall === undefined) throw error;
    throw new ConfigError(`${host}:${port} cannot be listened on (${code}). Change "host" or "port".`);
  }
}
