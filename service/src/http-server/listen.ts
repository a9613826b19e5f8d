import { ConfigError } from "../config/config-error.js";

interface Listener {
  listen(address: { host: string; port: number }): Promise<string>;
}

/**
 * Starts listening.
 *
 * @param settings The names of the two settings, for errors.
 * @returns The URL.
 * @throws ConfigError when the address is in use or cannot be bound.
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
      throw new ConfigError(
        `Port ${port} on ${host} is in use. Stop the program that uses it, or choose another "${settings.port}".`,
      );
    }
    // Errors without a system call are bugs. The others mean that the address is refused or the host is unknown.
    if (syscall === undefined) throw error;
    throw new ConfigError(
      `Cannot listen on ${host}:${port} (${code}). Change "${settings.host}" or "${settings.port}".`,
    );
  }
}
