import { dirname, resolve } from "node:path";
import { requireReachablePort } from "@dataset-oracle/service/config/blocked-ports";
import { loadConfig } from "@dataset-oracle/service/config/load-config";
import { range } from "@dataset-oracle/service/config/range";
import { RpcEndpoint } from "@dataset-oracle/service/config/rpc-endpoint";
import { AddressRanges } from "@dataset-oracle/service/http-server/caller-address";
import { serverSettings } from "@dataset-oracle/service/http-server/serve";
import { SecretSettings } from "@dataset-oracle/service/untrusted/secrets";
import { type Static, Type } from "@sinclair/typebox";
import { rateLimitSchema } from "./callers/rate-limit.js";
import { SOURCE_MS } from "./source/source-reader.js";

/** The settings for serving the Web Oracle's datasets. */
export const WebOracleSettings = Type.Object(
  {
    rpcUrls: Type.Record(Type.String({ pattern: "^[1-9][0-9]{0,15}$" }), RpcEndpoint, {
      additionalProperties: false,
      description:
        "The JSON-RPC endpoint that published specs are read from, by chain id: a URL, in which there may be a user and a " +
        "password, or an object with `url` and `headers`. A $ with a name in braces is replaced " +
        "by that environment variable. Never logged.",
    }),
    folder: Type.String({ minLength: 1, description: "Path of the folder where published specs are stored." }),
    hosts: Type.Union([Type.Literal("any"), Type.Array(Type.String())], {
      default: [],
      description:
        'The hosts that published specs may query, or "any" for every public host that no source file queries.',
    }),
    rateLimit: rateLimitSchema(
      { default: 5 },
      { default: 20 },
      {
        default: {},
        description: "The rate limit for each of these hosts. A host that a source file queries has that file's limit.",
      },
    ),
  },
  { additionalProperties: false, description: "Without it, the Web Oracle's datasets are not served." },
);
export type WebOracleSettings = Static<typeof WebOracleSettings>;

/** Only a literal loopback address, because a name could resolve to another machine. */
const LocalAddress = Type.String({
  pattern: "^http://(?:127(?:\\.\\d{1,3}){3}|\\[::1\\])(?::\\d{1,5})?(?:/[^?#\\s]*[^/?#\\s])?$",
  description: "Use http and a loopback IP address, without a slash at the end, such as http://127.0.0.1:9000.",
});

/** A provider's configuration file. Paths are relative to its folder. The signing key comes from the environment. */
export const ProviderConfig = Type.Object(
  {
    ...serverSettings(8100, 9464),
    deployments: Type.Array(Type.String(), {
      minItems: 1,
      description: "Paths of the deployments/<chainId>.json files with the datasets to report on.",
    }),
    lease: Type.String({
      minLength: 1,
      description:
        "Path of the folder of the lease, which stops a restarted provider from signing a round twice. It is created " +
        "if it does not exist; its parent must exist. Each process needs its own, on a local disk.",
    }),
    sources: Type.Array(Type.String(), {
      default: [],
      description: "Paths of source files, or of folders of them, in addition to the shipped ones.",
    }),
    excludedSources: Type.Array(Type.String(), { default: [], description: "Names of sources that are not queried." }),
    redirectedOrigins: Type.Record(Type.String(), LocalAddress, {
      default: {},
      description:
        "For development: sources' https origins, with the http addresses on this machine that are queried instead, " +
        "without a rate limit. Logged at each start. Refused when another network than 42, 1337 or 31337 is served.",
    }),
    secrets: Type.Array(SecretSettings, {
      default: [],
      description: "Credentials for paid APIs. Each is sent only to its own host.",
    }),
    webOracle: Type.Optional(WebOracleSettings),
    minSources: Type.Integer({
      ...range(1, 100, 2),
      description: "How many usable sources a spot price needs. With fewer, the report is NOT_AVAILABLE.",
    }),
    maxDeviationBps: Type.Integer({
      ...range(1, 10_000, 200),
      description:
        "How far a price may be from the median of all, in basis points of the median. Prices beyond that are dropped.",
    }),
    maxQuoteAge: Type.Integer({
      ...range(1, 86_400, 120),
      description:
        "The maximum age of a quote, and how far ahead its time may be, in seconds. Without a time it counts as fresh.",
    }),
    sourceTimeoutMs: Type.Integer({
      ...range(100, SOURCE_MS, SOURCE_MS),
      description: "The deadline for a source's whole answer, in milliseconds.",
    }),
    evidence: Type.Union(
      [
        Type.Object(
          {
            folder: Type.String({ minLength: 1, description: "The folder in which evidence is kept." }),
            maxMegabytes: Type.Integer({
              minimum: 1,
              maximum: 10_000_000,
              description:
                "The maximum size of the evidence on the disk in MiB. When it is reached, the oldest file is removed.",
            }),
          },
          { additionalProperties: false },
        ),
        Type.Null(),
      ],
      { default: null, description: "Keeps evidence for decisions; null keeps none." },
    ),
    requestsPerMinute: Type.Integer({
      ...range(1, 1_000_000_000, 240),
      description: "Requests per minute that one caller may make.",
    }),
    anonymousRequestsPerMinute: Type.Integer({
      ...range(1, 1_000_000_000, 6_000),
      description: "Requests per minute for reports that all callers other than `operators` may make together.",
    }),
    operators: AddressRanges({
      description:
        "Addresses or CIDR ranges of operators with a reserved share: half of each source's rate limit, and request " +
        "limits of their own.",
    }),
    operatorRequestsPerMinute: Type.Integer({
      ...range(1, 1_000_000_000, 6_000),
      description: "Requests per minute that each address in `operators` may make.",
    }),
  },
  { additionalProperties: false },
);
export type ProviderConfig = Static<typeof ProviderConfig>;

/**
 * Loads a configuration file and makes its paths absolute.
 *
 * @throws ConfigError that names every setting to fix.
 */
export function loadProviderConfig(path: string): ProviderConfig {
  const config = loadConfig(path, ProviderConfig);
  requireReachablePort(`${path}: port`, config.port);
  const inFolder = (file: string) => resolve(dirname(path), file);
  return {
    ...config,
    lease: inFolder(config.lease),
    deployments: config.deployments.map(inFolder),
    sources: config.sources.map(inFolder),
    secrets: config.secrets.map((one) => (one.file === undefined ? one : { ...one, file: inFolder(one.file) })),
    ...(config.webOracle && { webOracle: { ...config.webOracle, folder: inFolder(config.webOracle.folder) } }),
    evidence: config.evidence && { ...config.evidence, folder: inFolder(config.evidence.folder) },
  };
}
