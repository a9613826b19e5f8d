import { requireReachablePort } from "@dataset-oracle/service/config/blocked-ports";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { isFree } from "./free-ports.js";

/** A port that the devnet needs, and the option that changes it. */
export interface NeededPort {
  readonly role: string;
  readonly port: number;
  readonly option: string;
}

/**
 * Checks, before anything is started, that every port can be reached by browsers and is free on loopback.
 *
 * @throws ConfigError that names every port in use, or one that is blocked or needed twice, and how to choose another.
 */
export async function requireFreePorts(ports: readonly NeededPort[]): Promise<void> {
  for (const [index, { role, port, option }] of ports.entries()) {
    requireReachablePort(`${option} (${role})`, port);
    const other = ports.slice(0, index).find((needed) => needed.port === port);
    if (other) throw new ConfigError(`Port ${port} is assigned to ${other.role} and to ${role}. Change ${option}.`);
  }
  const busy: NeededPort[] = [];
  for (const needed of ports) {
    if (!(await isFree(needed.port))) busy.push(needed);
  }
  if (busy.length === 0) return;
  const lines = busy.map(
    ({ role, port, option }) => `  ${port}, for ${role}. Choose another: npm start -- ${option} N`,
  );
  throw new ConfigError(["Another program on this machine uses these ports:", ...lines].join("\n"));
}
