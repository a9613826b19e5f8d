import type { DataPointAnswer, LastUpdate } from "@dataset-oracle/protocol/http-schemas/data";
import type { DatasetOverview } from "@dataset-oracle/protocol/http-schemas/overview";
import { Hex } from "../components/copy";
import { Fact } from "../components/facts";
import { Table } from "../components/table";
import { formatTime } from "../format/time";
import { displayValue, formatDeviation, formatNumber } from "../format/values";

interface LastRoundProps {
  readonly data: DataPointAnswer;
  readonly dataset: DatasetOverview;
}

/** Shows the signers of the last round, their values, and the transaction. */
export function LastRound({ data, dataset }: LastRoundProps) {
  const { last_update: update, timestamp } = data;
  const unknown = "The last update is older than the blocks that this operator searches.";
  return (
    <section class="card" aria-labelledby="round">
      <h2 id="round">Last round</h2>
      {update && <Round data={data} dataset={dataset} update={update} />}
      {!update && <p class="empty">{timestamp ? unknown : "No value has been stored yet. Request one above."}</p>}
    </section>
  );
}

function Round({ data, dataset, update }: LastRoundProps & { update: LastUpdate }) {
  const { reports } = update;
  return (
    <>
      <dl class="facts">
        <Fact name="Round" term="round">
          {formatTime(data.timestamp)}
        </Fact>
        <Fact name="Signed by">
          {reports ? `${reports.length} of ${dataset.providers.length} providers` : "not shown"}
        </Fact>
        {update.spread !== null && (
          <Fact name="Spread" term="spread">
            {spreadText(data, update.spread)}
          </Fact>
        )}
        <Fact name="Block">{formatNumber(BigInt(update.block_number))}</Fact>
        <Fact name="Transaction">
          <Hex hex={update.transaction_hash} what="the transaction hash" at="tx" />
        </Fact>
        {update.carrier && (
          <Fact name="Sent by">
            <Hex hex={update.carrier} what="the sender's address" at="address" />
          </Fact>
        )}
      </dl>
      {reports ? (
        <Signers data={data} dataset={dataset} reports={reports} absentees={update.absentees} />
      ) : (
        <p class="quiet">
          This operator cannot show who signed: another contract relayed this update, or the operator's RPC endpoint no
          longer has the transaction.
        </p>
      )}
    </>
  );
}

type Reports = NonNullable<LastUpdate["reports"]>;

function Signers({
  data,
  dataset,
  reports,
  absentees,
}: LastRoundProps & { reports: Reports; absentees: readonly string[] }) {
  const isMedian = dataset.kind === "median";
  const valueClass = isMedian ? "number" : "number long";
  const { agreement } = data;
  const rounds = agreement?.rounds === 1 ? "round" : `${agreement?.rounds ?? 0} rounds`;
  const records = new Map(agreement?.providers.map(({ provider, ...record }) => [provider, record]));
  const names = new Map(dataset.providers.map(({ address, name }) => [address, name]));
  const rows = reports.map(({ provider, outcome, value }) => {
    const isOk = outcome === "OK";
    const text = isOk ? displayValue(dataset.kind, value, data.format, data.key).text : "no data";
    const distance = isOk && data.status === "OK" ? formatDeviation(BigInt(value), BigInt(data.value)) : null;
    return { provider, text, distance: distance ?? "—" };
  });
  const absent = absentees.map((provider) => ({ provider, text: "did not sign", distance: null }));
  return (
    <Table
      columns={[
        { name: "Provider" },
        { name: "Signed", class: valueClass },
        ...(isMedian ? [{ name: "From the median", class: "number" }] : []),
        { name: `Agreed, last ${rounds}`, class: "number", term: "agreed" },
      ]}
    >
      {[...rows, ...absent].map(({ provider, text, distance }) => (
        <tr key={provider} class={distance === null ? "quiet" : ""}>
          <th scope="row">
            {names.get(provider) && <b class="named">{names.get(provider)}</b>}
            <Hex hex={provider} what="the provider's address" at="address" />
          </th>
          <td class={valueClass}>{text}</td>
          {isMedian && <td class="number">{distance}</td>}
          <td class="number">{recordText(records.get(provider))}</td>
        </tr>
      ))}
    </Table>
  );
}

/** Writes in how many of the rounds that it signed a provider agreed. */
function recordText(record: { readonly signed: number; readonly agreed: number } | undefined) {
  if (record === undefined) return "—";
  const { signed, agreed } = record;
  return agreed === signed ? `${agreed} of ${signed}` : <span class="warn">{`${agreed} of ${signed}`}</span>;
}

/** Formats the spread of the signed values: in the value's unit, and in per cent of the value. */
function spreadText(data: DataPointAnswer, spread: string): string {
  const text = formatNumber(BigInt(spread), data.format?.decimals ?? 0);
  const part = data.status === "OK" ? formatDeviation(BigInt(data.value) + BigInt(spread), BigInt(data.value)) : null;
  return part === null ? text : `${text} (${part.replace("+", "")})`;
}
