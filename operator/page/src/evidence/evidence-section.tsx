import type { DataPointAnswer, LastUpdate } from "@dataset-oracle/protocol/http-schemas/data-point";
import type { EvidenceAnswer } from "@dataset-oracle/protocol/http-schemas/evidence";
import type { DatasetOverview } from "@dataset-oracle/protocol/http-schemas/overview";
import type { Result } from "@dataset-oracle/protocol/result";
import { useState } from "preact/hooks";
import { Hex, shortHex } from "../components/copy";
import { Notice } from "../components/notice";
import { TableHead } from "../components/table-head";
import { tellScreenReaders } from "../components/tell-screen-readers";
import { moment } from "../format/time";
import { type EvidenceId, getEvidence, type ReadError } from "../operator-api";
import { EvidenceView } from "./evidence-view";

interface Props {
  readonly data: DataPointAnswer;
  readonly dataset: DatasetOverview;
}

/** One provider's signed value, and the evidence for it as far as it is read. */
export interface Asked {
  readonly id: EvidenceId;
  readonly report: NonNullable<LastUpdate["reports"]>[number];
  /** Null until it is read. */
  readonly answer: Result<EvidenceAnswer, ReadError> | null;
}

/**
 * Lets the reader of a value ask each provider that signed it why. The evidence stays when a new round is stored, because
 * it takes longer to read than a round lasts.
 */
export function EvidenceSection({ data, dataset }: Props) {
  const [asked, setAsked] = useState<Asked | null>(null);
  const reports = data.last_update?.reports ?? [];
  const names = new Map(dataset.providers.map(({ address, name }) => [address, name]));
  if (reports.length === 0 && asked === null) return null;
  const ask = async (report: Asked["report"]) => {
    const id = {
      networkId: data.network_id,
      dataset: dataset.dataset,
      key: data.key_hex,
      round: data.timestamp,
      provider: report.provider,
    };
    setAsked({ id, report, answer: null });
    const answer = await getEvidence(id);
    // Another provider may have been asked meanwhile.
    setAsked((now) => (now?.id === id ? { id, report, answer } : now));
    tellScreenReaders(answer.ok ? `The evidence of ${shortHex(report.provider)} is shown.` : answer.error.title);
  };
  return (
    <section class="card" aria-labelledby="evidence">
      <h2 id="evidence">Evidence</h2>
      <p class="quiet">
        Ask a provider why it signed its value: what its sources answered, and how the value follows from that. A
        provider shows evidence only if its owner chose to, and for as long as it is kept.
      </p>
      <table>
        <TableHead columns={{ [`Signed the round of ${moment(data.timestamp)}`]: "", "Its reasons": "number" }} />
        <tbody>
          {reports.map((report) => (
            <tr key={report.provider}>
              <th scope="row">
                {names.get(report.provider) && <b class="named">{names.get(report.provider)}</b>}
                <code title={report.provider}>{shortHex(report.provider)}</code>
              </th>
              <td class="number">
                <button type="button" class="copy" onClick={() => void ask(report)}>
                  Show<span class="unseen"> the evidence of {shortHex(report.provider)}</span>
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {asked && (
        <section class="answer" aria-labelledby="evidence-of">
          <h3 id="evidence-of">
            Of {names.get(asked.id.provider)} <Hex hex={asked.id.provider} what="the provider's address" /> for the
            round of {moment(asked.id.round)}
          </h3>
          {asked.answer === null && <p class="empty">Asking the provider …</p>}
          {asked.answer?.ok === false && (
            <Notice tone="warn" title={asked.answer.error.title} code={asked.answer.error.code}>
              {asked.answer.error.detail}
            </Notice>
          )}
          {asked.answer?.ok && (
            <EvidenceView dataset={dataset} asked={asked} evidence={asked.answer.value} format={data.format} />
          )}
        </section>
      )}
    </section>
  );
}
