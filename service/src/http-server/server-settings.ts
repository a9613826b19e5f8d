import { Type } from "@sinclair/typebox";
import { AddressRanges } from "./address-ranges.js";
import { MaxConnections, MaxConnectionsPerCaller } from "./connection-limits.js";
import { metricsSettings } from "./metrics.js";

/**
 * Returns the schema of the settings that every service has: where it listens, and whose connections it takes.
 *
 * @param port The default port.
 * @param metricsPort The default port of the metrics.
 */
export const serverSettings = (port: number, metricsPort: number) => ({
  host: Type.String({ minLength: 1, default: "127.0.0.1", description: "The address to listen on." }),
  port: Type.Integer({
    minimum: 0,
    maximum: 65_535,
    default: port,
    description: "The port to listen on; 0 takes a free one.",
  }),
  ...metricsSettings(metricsPort),
  maxConnections: MaxConnections,
  maxConnectionsPerCaller: MaxConnectionsPerCaller,
  trustedProxies: AddressRanges({
    description: "Addresses or CIDR ranges of the reverse proxies whose X-Forwarded-For names the caller.",
  }),
});
