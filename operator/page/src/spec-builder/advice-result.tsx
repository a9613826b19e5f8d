import type { DatasetOverview } from "@dataset-oracle/protocol/http-schemas/overview";
import type { SpecAdvice } from "@dataset-oracle/protocol/http-schemas/spec-advice";
import { Fact } from "../components/fact";
import { Hex } from "../components/hex";
import { Table } from "../components/table";

interface Props {
  readonly advice: SpecAdvice;
  readonly dataset: DatasetOverview;
}

/** Shows the conclusions from the samples, and the figures behind them. */
export function AdviceResult({ advice, dataset }: Props) {
  const { character, conclusions, samples, interval_seconds: interval, steps, providers, agreement } = advice;
  // Distances between texts, hashes and flags mean nothing.
  const isNumber = dataset.kind === "median";
  return (
    <div class="answer">
      <p class="big long">{character.charAt(0).toUpperCase() + character.slice(1)}</p>
      <ul class="plain">
        {conclusions.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
      <dl class="facts">
        <Fact name="Samples">
          {samples} of each provider, {Number(interval.toFixed(1))} s apart
        </Fact>
        <Fact name="All providers equal">{ofCount(agreement.equal, agreement.compared)}</Fact>
        {isNumber && <Fact name="Farthest from the median">{perCent(agreement.farthest_bps)}</Fact>}
        <Fact name="Changed between samples">{ofCount(steps.changed, steps.count)}</Fact>
      </dl>
      <Tolerances advice={advice} dataset={dataset} />
      <h3>Providers</h3>
      <Table columns={{ Provider: "", "With a value": "number", ...(isNumber && { "Largest change": "number" }) }}>
        {providers.map(({ provider, with_value: count, steps: own }) => {
          const name = dataset.providers.find(({ address }) => address === provider)?.name;
          return (
            <tr key={provider}>
              <th scope="row">
                {name && <b class="named">{name}</b>}
                <Hex hex={provider} what="the provider's address" />
              </th>
              <td class="number">{ofCount(count, samples)}</td>
              {isNumber && <td class="number">{own.changed === 0 ? "none" : perCent(own.largest_bps)}</td>}
            </tr>
          );
        })}
      </Table>
      {advice.sources.length > 1 && <Sources sources={advice.sources} />}
    </div>
  );
}

function Tolerances({ advice: { tolerances, agreement, steps }, dataset }: Props) {
  if (tolerances.length === 0) return null;
  return (
    <>
      <h3>Tolerances that would have held</h3>
      <Table columns={{ Tolerance: "", "All providers within it": "number", "Change within it": "number" }}>
        {tolerances.map(({ bps, held, steps_held: stepsHeld }) => (
          <tr key={bps} class={bps === dataset.tolerance_bps ? "chosen" : ""}>
            <th scope="row">
              {bps / 100} % {bps === dataset.tolerance_bps && <span class="small quiet">of this dataset</span>}
            </th>
            <td class="number">{ofCount(held, agreement.compared)}</td>
            <td class="number">{ofCount(stepsHeld, steps.count)}</td>
          </tr>
        ))}
      </Table>
    </>
  );
}

function Sources({ sources }: Pick<SpecAdvice, "sources">) {
  return (
    <>
      <h3>Sources</h3>
      <Table columns={{ Source: "", "With a value": "number", Lag: "number" }}>
        {sources.map(({ name, with_value: count, readings, failures, follows }) => (
          <tr key={name}>
            <th scope="row">
              <code>{name}</code>
            </th>
            <td class="number">
              {ofCount(count, readings)}
              {Object.entries(failures).map(([code, times]) => (
                <span key={code} class="small quiet named">
                  {code} × {times}
                </span>
              ))}
            </td>
            <td class="number">
              {follows === null ? "none found" : `${Number(follows.seconds.toFixed(1))} s behind ${follows.name}`}
            </td>
          </tr>
        ))}
      </Table>
    </>
  );
}

const ofCount = (count: number, all: number) => (all === 0 ? "—" : `${count} of ${all}`);

/** @param bps In basis points; null where the change is from or to 0. */
const perCent = (bps: number | null) => (bps === null ? "n/a" : `${Number((bps / 100).toFixed(4))} %`);
