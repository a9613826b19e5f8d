import type { LastUpdate } from "@dataset-oracle/protocol/http-schemas/data";
import type { EvidenceAnswer } from "@dataset-oracle/protocol/http-schemas/evidence";
import type { DatasetOverview, ValueFormat } from "@dataset-oracle/protocol/http-schemas/overview";
import type { Result } from "@dataset-oracle/protocol/result";
import { hexToString } from "viem";
import { Fact } from "../components/fact";
import { Hex } from "../components/hex";
import { Notice } from "../components/notice";
import { Table } from "../components/table";
import { formatTime } from "../format/time";
import { displayValue } from "../format/value";
import type { EvidenceId, ReadError } from "../operator-api";
import { evidenceUrl } from "../operator-api";

/** One provider's signed value, and the evidence for it once that has been read. */
export interface AskedEvidence {
  readonly id: EvidenceId;
  readonly report: NonNullable<LastUpdate["reports"]>[number];
  /** Null until it is read. */
  readonly answer: Result<EvidenceAnswer, ReadError> | null;
}

interface Props {
  readonly dataset: DatasetOverview;
  readonly asked: AskedEvidence;
  readonly evidence: EvidenceAnswer;
  readonly format: ValueFormat | null;
}

/** The characters of an answer that are shown; the saved file has all of them. */
const SHOWN = 2_000;

/** Shows the evidence for one provider's value: the rule, each source's part, and what each source answered. */
export function EvidenceDetail({ dataset, asked, evidence, format }: Props) {
  const { record } = evidence;
  const file = `evidence-${record.timestamp}-${evidence.provider.slice(0, 10)}.json`;
  return (
    <>
      <Verdict asked={asked} record={record} />
      <dl class="facts">
        <Fact name="Read at">{formatTime(Number(record.at))}</Fact>
        <Fact name="Rule" wide>
          {ruleOf(evidence)}
        </Fact>
      </dl>
      <Sources dataset={dataset} record={record} format={format} />
      <h4>What was fetched</h4>
      {record.answers.map((answer) => (
        <Fetched key={`${answer.method} ${answer.url} ${answer.body}`} answer={answer} texts={evidence.texts} />
      ))}
      <p>
        To check it yourself,{" "}
        <a href={evidenceUrl(asked.id)} download={file}>
          save the evidence
        </a>{" "}
        and recompute the value offline: <code>provider replay {file}</code>
      </p>
    </>
  );
}

type EvidenceRecord = EvidenceAnswer["record"];

/** Compares the evidence with what the provider signed: the contract checked the signature, and the evidence has none. */
function Verdict({ asked: { report }, record }: Pick<Props, "asked"> & { record: EvidenceRecord }) {
  const isSigned = record.outcome === report.outcome && BigInt(record.value) === BigInt(report.value);
  if (isSigned) return <p class="quiet">It matches the value that the provider signed.</p>;
  return (
    <Notice tone="bad" title="This is not the value that the provider signed.">
      The evidence says {record.outcome} {record.value}. Do not trust it.
    </Notice>
  );
}

function Sources({ dataset, record, format }: Pick<Props, "dataset" | "format"> & { record: EvidenceRecord }) {
  if (record.sources === undefined) return null;
  const key = hexToString(record.key as `0x${string}`);
  return (
    <Table columns={{ Source: "", Value: "number", Use: "number" }}>
      {record.sources.map(({ name, value, used, reason }) => (
        <tr key={name}>
          <th scope="row">{name}</th>
          <td class="number long">
            {value === null ? "—" : textOf(() => displayValue(dataset.kind, value, format, key).exact, value)}
          </td>
          <td class="number">{used ? "used" : reason}</td>
        </tr>
      ))}
    </Table>
  );
}

function Fetched({ answer, texts }: { answer: EvidenceRecord["answers"][number] } & Pick<EvidenceAnswer, "texts">) {
  const { method, url, body, text: hash, failure, detail } = answer;
  const text = hash === null ? null : (texts[hash] ?? "");
  return (
    <details>
      <summary>
        <span class="long">
          {method} {url}
        </span>
      </summary>
      {body !== undefined && <code>{body}</code>}
      {hash === null && (
        <p class="quiet">
          {failure}: {detail}
        </p>
      )}
      {hash !== null && text !== null && (
        <>
          <p class="quiet">
            SHA-256 of its {text.length.toLocaleString("en")} characters: <Hex hex={hash} what="the SHA-256" />
          </p>
          <figure class="code">
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable with the keyboard */}
            <section tabIndex={0} aria-label={`The answer of ${url}`}>
              <pre>
                <code>{text.slice(0, SHOWN)}</code>
              </pre>
              {text.length > SHOWN && <p class="quiet">… save the evidence to see the rest</p>}
            </section>
          </figure>
        </>
      )}
    </details>
  );
}

/** Formats what the provider wrote, which nobody signed; returns it as it is if it has no known form. */
function textOf(format: () => string, asItIs: string): string {
  try {
    return format();
  } catch {
    return asItIs;
  }
}

/** States how the value follows from the sources' values. */
function ruleOf({ record, texts }: EvidenceAnswer): string {
  if (record.kind === "spot_price") {
    const { minSources, maxDeviationBps, maxQuoteAge } = record.policy;
    return (
      `The median of at least ${minSources} sources whose quotes are at most ${maxQuoteAge} s old and within ` +
      `${maxDeviationBps / 100} % of the median of all such quotes.`
    );
  }
  const spec = texts[record.spec] ?? "";
  return textOf(() => ruleOfSpec(JSON.parse(spec)), spec);
}

interface Spec {
  readonly sources: readonly { readonly path: string; readonly type: string; readonly decimals?: number }[];
  readonly combine: string;
  readonly minSources: number;
}

function ruleOfSpec({ sources, combine, minSources }: Spec): string {
  const words = { median: "The median", majority: "The value from more than half" }[combine] ?? "The value from all";
  const parts = sources.map(({ path, type, decimals = 0 }) => {
    const scale = decimals > 0 ? `, times 10 to the power of ${decimals}` : "";
    return `the ${type} at ${path}${scale}`;
  });
  return `${words} of the sources that answer (at least ${minSources} of ${sources.length} must): ${[...new Set(parts)].join("; ")}.`;
}
