import type { DataPointAnswer, DatasetOverview, LastUpdate } from "@dataset-oracle/protocol/wire-data";
import { deviation, grouped, toDecimal } from "../format/number";
import { moment } from "../format/time";
import { showValue } from "../format/value";
import { Fact } from "./dataset-facts";
import { Hex } from "./hex";
import { Spread } from "./spread";

interface Props {
  readonly data: DataPointAnswer;
  readonly dataset: DatasetOverview;
}

/** Shows the signers of the last round, their values, and the transaction. */
export function LastRound({ data, dataset }: Props) {
  const { last_update: update } = data;
  return (
    <section class="card" aria-labelledby="round">
      <h2 id="round">Last round</h2>
      {update === null ? (
        <p class="empty">
          {data.timestamp === 0
            ? "No value has been stored yet. Request one below."
            : "The last update is older than the blocks that this operator searches."}
        </p>
      ) : (
        <Round data={data} dataset={dataset} update={update} />
      )}
    </section>
  );
}

function Round({ data, dataset, update }: Props & { update: LastUpdate }) {
  const { reports, absentees } = update;
  const members = dataset.providers.length;
  return (
    <>
      <dl class="facts">
        <Fact name="Round">{moment(data.timestamp)}</Fact>
        <Fact name="Signed by">{reports ? `${reports.length} of ${members} providers` : "not shown"}</Fact>
        {update.spread !== null && <Fact name="Spread">{apart(data, update.spread)}</Fact>}
        <Fact name="Block">{update.block_number}</Fact>
        <Fact name="Transaction">
          <Hex hex={update.transaction_hash} what="the transaction hash" />
        </Fact>
        {update.carrier && (
          <Fact name="Sent by">
            <Hex hex={update.carrier} what="the sender's address" />
          </Fact>
        )}
      </dl>
      {reports === null && (
        <p class="quiet">Another contract relayed this update, so the transaction does not show who signed.</p>
      )}
      {reports && <Spread data={data} dataset={dataset} reports={reports} />}
      {reports && (
        <table class="signers">
          <thead>
            <tr>
              <th scope="col">Provider</th>
              <th scope="col" class="number">
                Signed
              </th>
              {dataset.kind === "median" && (
                <th scope="col" class="number">
                  From the median
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {reports.map(({ provider, outcome, value }) => {
              const shown = showValue(dataset.kind, value, data.format, data.key);
              return (
                <tr key={provider}>
                  <th scope="row">
                    <Hex hex={provider} what="the provider's address" />
                  </th>
                  <td class="number">{outcome === "OK" ? shown.exact : "no data"}</td>
                  {dataset.kind === "median" && <td class="number">{fromValue(data, outcome, value)}</td>}
                </tr>
              );
            })}
            {absentees.map((provider) => (
              <tr key={provider} class="quiet">
                <th scope="row">
                  <Hex hex={provider} what="the provider's address" />
                </th>
                <td class="number">did not sign</td>
                {dataset.kind === "median" && <td />}
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}

function fromValue(data: DataPointAnswer, outcome: string, value: string): string {
  if (outcome !== "OK" || data.status !== "OK") return "—";
  return deviation(BigInt(value), BigInt(data.value)) ?? "—";
}

/** Formats the spread of the signed values: in the value's unit, and in per cent of the value. */
function apart(data: DataPointAnswer, spread: string): string {
  const text = grouped(toDecimal(BigInt(spread), data.format?.decimals ?? 0));
  const stored = BigInt(data.value);
  const part = data.status === "OK" && stored > 0n ? deviation(stored + BigInt(spread), stored) : null;
  return part === null ? text : `${text} (${part.replace("+", "")})`;
}
