import { parseAddress } from "@dataset-oracle/protocol/address";
import { keyToAscii } from "@dataset-oracle/protocol/dataset-key";
import type {
  BatchReportRequest,
  ReportAnswer,
  ReportRequest,
  SignedBatchReport,
} from "@dataset-oracle/protocol/http-schemas/reports";
import { KEY_FORM_WORDS, matchesKeyForm } from "@dataset-oracle/protocol/key-form";
import type { Address, Hex } from "viem";
import type { TracedCaller } from "../callers/caller.js";
import type { Decider } from "../decisions/decider.js";
import type { Decision } from "../decisions/decision-memory.js";
import type { ReportedDataset, Served, ServedDataPoint } from "../keys/served-keys.js";
import { problem } from "../problems.js";
import type { WebOracleKeyFinder } from "../web-oracle/web-oracle-key-finder.js";
import type { ReportSigner } from "./report-signer.js";

/** As how many keys one of the Web Oracle counts, whose request has to be made from its spec. */
const WEB_KEY_COST = 3;

const costOf = ({ keyForm }: ReportedDataset) => (keyForm === "WEB_ORACLE" ? WEB_KEY_COST : 1);

const ASK_OWNER = "Use another key, or ask the provider's owner to serve this one.";

/** Why a key that has the form of its dataset is not served, and what to do. */
const UNSERVED = {
  not_listed: `is not in the provider's deployment file. ${ASK_OWNER}`,
  too_few_sources: `is in the provider's deployment file, but too few of the provider's sources know it. ${ASK_OWNER}`,
  web_oracle_off: `belongs to the Web Oracle, which this provider does not serve. ${ASK_OWNER}`,
} as const;

/** Answers requests for reports and rows: finds the data points, decides their values, signs the decisions. */
export class Reporter {
  /** @param webOracleKeys Null when the Web Oracle's keys are not served. */
  constructor(
    private readonly served: Served,
    private readonly webOracleKeys: Pick<WebOracleKeyFinder, "find"> | null,
    private readonly decider: Decider,
    private readonly signer: ReportSigner,
  ) {}

  /** @throws ProblemError when the request is refused; then nothing was signed. */
  async report(request: ReportRequest, caller: TracedCaller): Promise<ReportAnswer> {
    const { decider, signer } = this;
    const dataset = this.#findDataset(request);
    decider.charge(caller, costOf(dataset));
    const dataPoint = await this.#findDataPoint(dataset, request.key as Hex, caller);
    const round = BigInt(request.timestamp);
    const [decision] = await decider.decide([dataPoint], round, caller);
    const report = await signer.signReport(dataPoint, round, decision as Decision, caller.trace);
    const sources = decider.notesOf(dataPoint, round);
    return sources === undefined ? report : { ...report, sources };
  }

  /** @throws ProblemError when the request is refused; then nothing was signed. */
  async row(request: BatchReportRequest, caller: TracedCaller): Promise<SignedBatchReport> {
    const { decider, signer } = this;
    const dataset = this.#findDataset(request);
    decider.charge(caller, request.keys.length * costOf(dataset));
    const finding = request.keys.map((key) => this.#findDataPoint(dataset, key as Hex, caller));
    // Of several problems, the answer is the first key's, not the one that was found first.
    await Promise.allSettled(finding);
    const dataPoints = await Promise.all(finding);
    const round = BigInt(request.timestamp);
    const decisions = await decider.decide(dataPoints, round, caller);
    const keys = dataPoints.map(({ key }) => key.key);
    return signer.signRow(dataset, keys, round, decisions, caller.trace);
  }

  /** @throws ProblemError when the dataset that a request names is not served. */
  #findDataset({ network_id: network, dataset: name }: Pick<ReportRequest, "network_id" | "dataset">): ReportedDataset {
    const datasets = this.served.get(network);
    const exact = datasets?.get(name as Address);
    if (exact !== undefined) return exact;
    const address = parseAddress(name);
    if (!address.ok) throw problem("invalid_address", { problem: address.error });
    if (datasets === undefined) {
      const served = [...this.served.keys()];
      throw problem("unknown_network", { network, served: served.join(", ") }, { extras: { served } });
    }
    const dataset = datasets.get(address.value);
    if (dataset === undefined) throw problem("unknown_dataset", { address: address.value, network });
    return dataset;
  }

  /**
   * @param key In lower-case hex.
   * @throws ProblemError when the key is not served.
   */
  async #findDataPoint(dataset: ReportedDataset, key: Hex, caller: TracedCaller): Promise<ServedDataPoint> {
    const { keyForm, keys, unservedKeys } = dataset;
    const id = `${dataset.chainId}/${dataset.address}/${key}`;
    const served = keys.get(key);
    if (served !== undefined) return { id, dataset, key: served };
    if (!matchesKeyForm(keyForm, key)) throw problem("invalid_key", { form: KEY_FORM_WORDS[keyForm] });
    if (keyForm === "WEB_ORACLE" && this.webOracleKeys !== null)
      return { id, dataset, key: await this.webOracleKeys.find(dataset, key, caller) };
    const name = keyToAscii(key) ?? key;
    const listed = unservedKeys.includes(name) ? UNSERVED.too_few_sources : UNSERVED.not_listed;
    throw problem("unknown_key", { key: name, reason: keyForm === "WEB_ORACLE" ? UNSERVED.web_oracle_off : listed });
  }
}
