import { ConfigError, TransientError } from "../config/config-error.js";

interface Listener {
  listen(address: { host: string; port: number }): Promise<string>;
}

/** The error codes of addresses that can never be listened on as configured. Others may be free or there later. */
const REFUSED = ["EACCES", "EINVAL", "EAFNOSUPPORT"];

/**
 * Starts listening.
 *
 * @param settings The names of the two settings, for errors.
 * @returns The URL.
 * @throws TransientError when the address is in use or not there, ConfigError when it can never be listened on.
 */
export async function listen(
  app: Listener,
  { host, port }: { readonly host: string; readonly port: number },
  settings = { host: "host", port: "port" },
): Promise<string> {
  try {
    return await app.listen({ host, port });
  } catch (error) {
    const { code = "", syscall } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE") {
      throw new TransientError(
        `Port ${port} on ${host} is in use. Stop the program that uses it, or choose another "${settings.port}".`,
      );
    }
    // Errors without a system call are bugs. The others mean that the address is refused or the host is unknown.
    if (syscall === undefined) throw error;
    const message = `Cannot listen on ${host}:${port} (${code}). Change "${settings.host}" or "${settings.port}".`;
    throw REFUSED.includes(code) ? new ConfigError(message) : new TransientError(message);
  }
}
