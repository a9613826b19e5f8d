// A baseline: the simplest implementation of `broadcast: false`. It handles every request separately, with viem for the
// chain and the signatures and Node's fetch for the providers. Logs, limits and metrics are the same as the operator's.

import { once } from "node:events";
import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { parseAddress } from "@dataset-oracle/protocol/address";
import { agreedValue } from "@dataset-oracle/protocol/agreed-value";
import { keyToAscii, parseKey } from "@dataset-oracle/protocol/dataset-key";
import { encodeUpdate } from "@dataset-oracle/protocol/encode-update";
import { DataRequest } from "@dataset-oracle/protocol/http-schemas/data-request";
import { type ReportRequest, SignedReport } from "@dataset-oracle/protocol/http-schemas/reports";
import { KEY_FORMS, matchesKeyForm } from "@dataset-oracle/protocol/key-form";
import { QUERY_STATUSES } from "@dataset-oracle/protocol/query-status";
import { isQuorum } from "@dataset-oracle/protocol/quorum";
import { REPORT_TYPES, reportDomain } from "@dataset-oracle/protocol/report";
import { encodeUpdateCall } from "@dataset-oracle/protocol/update-call";
import { buildApp } from "@dataset-oracle/service/http-server/app";
import { measureRequests, processRegistry } from "@dataset-oracle/service/http-server/metrics";
import { serveMetrics } from "@dataset-oracle/service/http-server/serve";
import { type Trace, traceHeaders } from "@dataset-oracle/service/http-server/trace";
import { createContext } from "@dataset-oracle/service/process/context";
import { createLogger } from "@dataset-oracle/service/process/logger";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { Histogram } from "prom-client";
import {
  type Address,
  createPublicClient,
  decodeFunctionResult,
  type Hex,
  http,
  numberToHex,
  recoverTypedDataAddress,
} from "viem";
import type { CommitteeMember } from "../processes.js";

const REPORT = Type.Object(SignedReport.properties);
const BEHIND_MS = 2_000;

/** What the parent process sends. */
interface NaiveOperatorSettings {
  readonly rpcUrl: string;
  readonly dataset: Address;
  readonly toleranceBps: number;
  readonly providers: readonly CommitteeMember[];
}

const [{ rpcUrl, dataset, toleranceBps, providers }] = (await once(process, "message")) as [NaiveOperatorSettings];
const committee = { toleranceBps: BigInt(toleranceBps), members: providers.map(({ address }) => address) };
const client = createPublicClient({ transport: http(rpcUrl) });
const registry = processRegistry();
const durations = new Histogram({
  name: "provider_request_duration_seconds",
  help: "Duration of the requests to providers.",
  labelNames: ["network", "provider", "outcome"],
  registers: [registry],
});

const app = await buildApp(createContext(createLogger({ name: "naive" }), new AbortController().signal, registry), {
  requestsPerMinute: 1_000_000_000_000,
  maxConnections: 1_000,
  maxConnectionsPerCaller: 1_000,
  trustedProxies: [],
});
measureRequests(app, registry);
await app.register(async (routes) => {
  routes.post("/data/request", { schema: { body: DataRequest } }, (request) =>
    answer(request.body as DataRequest, request.trace),
  );
});
const url = await app.listen({ host: "127.0.0.1", port: 0 });
const metrics = await serveMetrics(registry, { metricsHost: "127.0.0.1", metricsPort: 0 }, () => true);
process.send?.({ requestUrl: `${url}/data/request`, metricsUrl: metrics.url });
process.once("disconnect", () => process.exit());

async function answer(body: DataRequest, trace: Trace | null) {
  const key = validKey(body);
  const timestamp = Math.floor((Date.now() - BEHIND_MS) / 1_000);
  const asked = { network_id: body.network_id, dataset, key, timestamp };
  const reports = await Promise.all(providers.map((provider) => askProvider(provider, asked, trace)));
  const signed = reports.filter(({ outcome }) => outcome === "OK");
  if (!isQuorum(signed.length, providers.length - signed.length)) throw new Error("There is no quorum.");
  const header = { chainId: body.network_id, dataset, key, round: BigInt(timestamp) };
  const update = encodeUpdate("median", header, committee, "OK", signed);
  const data = encodeUpdateCall(update);
  const call = { to: dataset, data, blockTag: "pending" } as const;
  const [result, estimate] = await Promise.all([client.call(call), client.estimateGas(call)]);
  if (result.data === undefined) throw new Error("The dataset returned nothing.");
  const [status] = decodeFunctionResult({ abi: datasetAbi, functionName: "update", data: result.data });
  return {
    network_id: body.network_id,
    dataset,
    key: keyToAscii(key),
    key_hex: key,
    status: QUERY_STATUSES[status],
    value: BigInt(
      agreedValue(
        "median",
        signed.map(({ value }) => value),
      ),
    ).toString(),
    timestamp,
    reports: signed.map(({ provider, value, signature }) => ({ provider, value: BigInt(value).toString(), signature })),
    update,
    transaction: {
      chainId: numberToHex(body.network_id),
      to: dataset,
      data,
      value: "0x0",
      gas: numberToHex(estimate + estimate / 4n),
    },
  };
}

function validKey(body: DataRequest): Hex {
  const address = parseAddress(body.dataset);
  const key = parseKey(body.key);
  if (body.network_id !== 42 || !address.ok || address.value !== dataset || !key.ok)
    throw new Error("That is not served.");
  if (!matchesKeyForm("SPOT_PRICE", key.value)) throw new Error(`The key is not of the form ${KEY_FORMS[0]}.`);
  return key.value;
}

async function askProvider({ address, url }: CommitteeMember, asked: ReportRequest, trace: Trace | null) {
  const end = durations.startTimer({ network: 42, provider: address });
  const response = await fetch(`${url}/report`, {
    method: "POST",
    headers: { "content-type": "application/json", ...traceHeaders(trace) },
    body: JSON.stringify(asked),
    redirect: "error",
    signal: AbortSignal.timeout(60_000),
  });
  const report = await response.json();
  if (!Value.Check(REPORT, report)) throw new Error(`${address} did not answer with a report.`);
  const { key, timestamp } = asked;
  const isAsked =
    report.network_id === asked.network_id &&
    report.dataset === asked.dataset &&
    report.key === key &&
    report.timestamp === timestamp &&
    report.provider === address;
  if (!isAsked) throw new Error(`${address} answered with a report of something else.`);
  const signer = await recoverTypedDataAddress({
    domain: reportDomain(asked.network_id, dataset),
    types: REPORT_TYPES,
    primaryType: "Report",
    message: {
      key: key as Hex,
      outcome: QUERY_STATUSES.indexOf(report.outcome),
      value: report.value as Hex,
      timestamp: BigInt(timestamp),
    },
    signature: report.signature as Hex,
  });
  if (signer !== address) throw new Error(`${address} did not sign its report.`);
  end({ outcome: "ok" });
  return { ...report, provider: address, value: report.value as Hex, signature: report.signature as Hex };
}
