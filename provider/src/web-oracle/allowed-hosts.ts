import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { parseHttpsUrl } from "@dataset-oracle/service/egress/https-url";

/** The hosts that published specs may query. */
export type AllowedHosts = readonly string[] | "any";

/** Reports whether a host is among the allowed ones. */
export const isHostAllowed = (host: string, hosts: AllowedHosts): boolean => hosts === "any" || hosts.includes(host);

/** @throws ConfigError when one of the hosts is not written as a host name. */
export function checkHosts(hosts: AllowedHosts, at: string): void {
  for (const host of hosts === "any" ? [] : hosts) {
    const url = parseHttpsUrl(`https://${host}`);
    if (url.ok && url.value.host === host) continue;
    throw new ConfigError(`${at}: "${host}" is not a host name. Write it in lower case and without a port.`);
  }
}
