import { ConfigError } from "./config.js";

interface Listener {
  listen(address: { host: string; port: number }): Promise<string>;
}

/**
 * @param settings The names of the settings that say where.
 * @returns The url of what listens.
 * @throws ConfigError when the address can't be listened on.
 */
export async function listen(
  app: Listener,
  { host, port }: { readonly host: string; readonly port: number },
  settings = { host: "host", port: "port" },
): Promise<string> {
  try {
    return await app.listen({ host, port });
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE") {
      throw new ConfigError(`Port ${port} on ${host} is in use. Choose another "${settings.port}".`);
    }
    // The system refuses the address, or does not find the host.
    if (syscall === undefined) throw error;
    throw new ConfigError(
      `${host}:${port} cannot be listened on (${code}). Change "${settings.host}" or "${settings.port}".`,
    );
  }
}
