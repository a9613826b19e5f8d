import { dirname, resolve } from "node:path";
import { AddressRanges } from "@dataset-oracle/service/address-ranges";
import { loadConfig } from "@dataset-oracle/service/config";
import { MaxConnections } from "@dataset-oracle/service/connections";
import { SecretSettings } from "@dataset-oracle/service/egress/secrets";
import { metricsSettings } from "@dataset-oracle/service/metrics";
import { type Static, Type } from "@sinclair/typebox";
import { SOURCE_MS } from "./source/reader.js";

/** What a provider needs to serve the Web Oracle's datasets. */
export const WebOracleSettings = Type.Object(
  {
    rpcUrls: Type.Record(Type.String({ pattern: "^[1-9][0-9]{0,15}$" }), Type.String({ minLength: 1 }), {
      additionalProperties: false,
      description:
        "By chain id, the JSON-RPC endpoint that published specs are read from. $ and a name in braces stand for that " +
        "variable of the environment. Never logged.",
    }),
    folder: Type.String({ minLength: 1, description: "Path of the folder that keeps published specs." }),
    hosts: Type.Union([Type.Literal("any"), Type.Array(Type.String({ minLength: 1 }))], {
      default: [],
      description: 'The hosts that published specs may ask, or "any": every public one.',
    }),
    rateLimit: Type.Object(
      {
        perSecond: Type.Number({
          exclusiveMinimum: 0,
          maximum: 1_000,
          default: 5,
          description: "Requests a second in the long run.",
        }),
        burst: Type.Integer({ minimum: 1, maximum: 1_000, default: 20, description: "Requests at once." }),
      },
      {
        additionalProperties: false,
        default: {},
        description: "How often each of these hosts is asked: requests a second in the long run, and at once.",
      },
    ),
  },
  { additionalProperties: false, description: "Without it, the Web Oracle's datasets are not served." },
);
export type WebOracleSettings = Static<typeof WebOracleSettings>;

/** A provider's configuration file. Its paths are relative to its own folder. The key is not in it: see main.ts. */
export const ProviderConfig = Type.Object(
  {
    host: Type.String({ default: "127.0.0.1", description: "The address to listen on." }),
    port: Type.Integer({ minimum: 0, maximum: 65_535, default: 8100, description: "The port; 0 takes a free one." }),
    ...metricsSettings(9464),
    deployments: Type.Array(Type.String(), {
      minItems: 1,
      description: "Paths of deployments/<chainId>.json files: the datasets to report on.",
    }),
    database: Type.String({
      minLength: 1,
      description:
        "Folder of the database that keeps what was signed; it is made if it is not there, its parent is not.",
    }),
    sources: Type.Array(Type.String(), {
      default: [],
      description: "Paths of source files, or of folders of them, besides those that come with the provider.",
    }),
    excludedSources: Type.Array(Type.String(), {
      default: [],
      description: "Names of sources that come with the provider and are not to be asked.",
    }),
    sourceOverrides: Type.Record(Type.String(), Type.String(), {
      default: {},
      description:
        "For development: a source's https origin, and the http address on this machine that is asked instead. " +
        "Refused when network 1 is served.",
    }),
    secrets: Type.Array(SecretSettings, {
      default: [],
      description: "What paid APIs are sent to know who pays: each goes to its own host alone.",
    }),
    webOracle: Type.Optional(WebOracleSettings),
    minSources: Type.Integer({
      minimum: 1,
      maximum: 100,
      default: 2,
      description: "How many sources must answer for a value; with fewer the report is NOT_AVAILABLE.",
    }),
    maxDeviationBps: Type.Integer({
      minimum: 1,
      maximum: 10_000,
      default: 200,
      description: "How far a source's price may lie from the median of all to be used, in basis points of the median.",
    }),
    maxQuoteAge: Type.Integer({
      minimum: 1,
      maximum: 86_400,
      default: 120,
      description: "How old a source's quote may be to be used, in seconds; one without a time is taken as fresh.",
    }),
    sourceTimeoutMs: Type.Integer({
      minimum: 100,
      maximum: SOURCE_MS,
      default: SOURCE_MS,
      description: "The deadline for a source's whole answer, in milliseconds.",
    }),
    evidence: Type.Union(
      [
        Type.Object(
          { folder: Type.String({ minLength: 1 }), maxMegabytes: Type.Integer({ minimum: 1, maximum: 10_000_000 }) },
          { additionalProperties: false },
        ),
        Type.Null(),
      ],
      {
        default: null,
        description: "Where what was read is kept to be replayed, and how much of it; null keeps nothing.",
      },
    ),
    requestsPerMinute: Type.Integer({
      minimum: 1,
      default: 600,
      description: "Requests a minute that one caller may make.",
    }),
    strangerRequestsPerMinute: Type.Integer({
      minimum: 1,
      default: 6_000,
      description: "Requests a minute for reports that all callers together may make, the operators left out.",
    }),
    operators: AddressRanges({
      description:
        "Addresses or CIDR ranges of the operators that have a reserved share: half of each source's burst, and " +
        "limits of their own.",
    }),
    operatorRequestsPerMinute: Type.Integer({
      minimum: 1,
      default: 6_000,
      description: "Requests a minute that each address of the operators may make.",
    }),
    maxConnections: MaxConnections,
    trustedProxies: AddressRanges({
      description: "Addresses or CIDR ranges of the reverse proxies whose X-Forwarded-For names the caller.",
    }),
  },
  { additionalProperties: false },
);
export type ProviderConfig = Static<typeof ProviderConfig>;

/**
 * Loads a configuration file; its paths come out absolute.
 *
 * @throws ConfigError that names every setting to mend.
 */
export function loadProviderConfig(path: string): ProviderConfig {
  const config = loadConfig(path, ProviderConfig);
  const inFolder = (file: string) => resolve(dirname(path), file);
  return {
    ...config,
    database: inFolder(config.database),
    deployments: config.deployments.map(inFolder),
    sources: config.sources.map(inFolder),
    secrets: config.secrets.map((one) => (one.file === undefined ? one : { ...one, file: inFolder(one.file) })),
    ...(config.webOracle && { webOracle: { ...config.webOracle, folder: inFolder(config.webOracle.folder) } }),
    evidence: config.evidence && { ...config.evidence, folder: inFolder(config.evidence.folder) },
  };
}
