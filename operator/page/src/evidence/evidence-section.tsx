import type { DataPointAnswer } from "@dataset-oracle/protocol/http-schemas/data";
import type { DatasetOverview } from "@dataset-oracle/protocol/http-schemas/overview";
import { useState } from "preact/hooks";
import { Hex } from "../components/hex";
import { Notice } from "../components/notice";
import { Table } from "../components/table";
import { tellScreenReaders } from "../components/tell-screen-readers";
import { shortHex } from "../format/hex";
import { formatTime } from "../format/time";
import { getEvidence } from "../operator-api";
import { type AskedEvidence, EvidenceDetail } from "./evidence-detail";

interface Props {
  readonly data: DataPointAnswer;
  readonly dataset: DatasetOverview;
}

/**
 * Lets the reader of a value ask each provider that signed it why. The evidence stays when a new round is stored, because
 * it takes longer to read than a round lasts.
 */
export function EvidenceSection({ data, dataset }: Props) {
  const [asked, setAsked] = useState<AskedEvidence | null>(null);
  const reports = data.last_update?.reports ?? [];
  const names = new Map(dataset.providers.map(({ address, name }) => [address, name]));
  if (reports.length === 0 && asked === null) return null;
  const ask = async (report: AskedEvidence["report"]) => {
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
        provider shows evidence only if its owner has enabled this, and only as long as it keeps the evidence.
      </p>
      <Table columns={{ [`Signed the round of ${formatTime(data.timestamp)}`]: "", Evidence: "number" }}>
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
      </Table>
      {asked && (
        <section class="answer" aria-labelledby="evidence-of">
          <h3 id="evidence-of">
            From {names.get(asked.id.provider)} <Hex hex={asked.id.provider} what="the provider's address" /> for the
            round of {formatTime(asked.id.round)}
          </h3>
          {asked.answer === null && <p class="empty">Asking the provider …</p>}
          {asked.answer?.ok === false && (
            <Notice tone="warn" title={asked.answer.error.title} code={asked.answer.error.code}>
              {asked.answer.error.detail}
            </Notice>
          )}
          {asked.answer?.ok && (
            <EvidenceDetail dataset={dataset} asked={asked} evidence={asked.answer.value} format={data.format} />
          )}
        </section>
      )}
    </section>
  );
}
