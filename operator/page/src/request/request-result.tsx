import type { BroadcastUpdate, UnsentUpdate } from "@dataset-oracle/protocol";
import { keyToAscii } from "@dataset-oracle/protocol/dataset-key";
import type { DatasetOverview, ValueFormat } from "@dataset-oracle/protocol/http-schemas/overview";
import { Hex } from "../components/copy";
import { Shown, Status } from "../components/data-point";
import { Fact } from "../components/facts";
import { Notice } from "../components/notices";
import { formatTime } from "../format/time";
import { displayValue } from "../format/values";
import { WalletSection } from "../wallet/wallet-section";
import type { RequestEnd, RequestFailure } from "./run-request";

interface RequestResultProps {
  readonly end: RequestEnd;
  readonly kind: DatasetOverview["kind"];
  readonly format: ValueFormat | null;
  readonly onStored: (() => void) | undefined;
}

/** Shows the outcome of a request. */
export function RequestResult({ end, kind, format, onStored }: RequestResultProps) {
  if (end.kind === "problem") return <Problem {...end} />;
  return (
    <>
      <Value update={end.update} kind={kind} format={format} />
      {end.kind === "unsent" && <WalletSection transaction={end.update.transaction} onStored={onStored} />}
    </>
  );
}

type ValueProps = Pick<RequestResultProps, "kind" | "format"> & { readonly update: BroadcastUpdate | UnsentUpdate };

function Value({ update, kind, format }: ValueProps) {
  const { key, status, value, output, updatedAt, reports } = update;
  const reasons = [...new Set(reports.flatMap(({ reason }) => reason ?? []))];
  const shown = displayValue(kind, kind === "median" ? value.toString() : output, format, keyToAscii(key));
  return (
    <div class="result">
      <p class="value">
        <Shown value={status === "OK" ? shown : null} /> <Status status={status} />
      </p>
      <dl class="facts">
        <Fact name="Round" term="round">
          {formatTime(Number(updatedAt))}
        </Fact>
        <Fact name="Reports">{reports.length > 0 ? reports.length : "in another transaction"}</Fact>
        {"transactionHash" in update && (
          <Fact name="Transaction">
            {update.transactionHash === null ? (
              "sent by another relayer"
            ) : (
              <Hex hex={update.transactionHash} what="the transaction hash" />
            )}
          </Fact>
        )}
      </dl>
      {reasons.length > 0 && <p class="quiet">Why providers have no value: {reasons.join("; ")}.</p>}
      {"fresh" in update && update.fresh && (
        <p class="quiet">The stored value is so recent that no transaction was needed.</p>
      )}
    </div>
  );
}

const YOURSELF = "You can send the transaction yourself: the operator then only collects the reports.";

/** Advice on problems for which the page knows more than the operator says. */
const ADVICE: Readonly<Partial<Record<RequestFailure["code"], string>>> = {
  no_such_path: "The page and the operator have different versions. Reload the page.",
  unknown_network: "The operator no longer serves this network. Reload the page.",
  unknown_dataset: "The operator no longer serves this dataset. Reload the page.",
  unknown_key:
    "No gas was spent. Choose one of the listed keys. A Web Oracle key needs a published request spec, and belongs to " +
    "one of the two Web Oracle datasets only.",
  broadcast_unavailable: YOURSELF,
  too_many_broadcasts: YOURSELF,
  gas_budget_spent: YOURSELF,
  queue_full: `Nothing was sent. ${YOURSELF}`,
  signer_failed: `Nothing was sent. ${YOURSELF}`,
  no_quorum: "Nothing was sent. Try again in a few seconds.",
  out_of_funds: `The operator's account has too little Ether. ${YOURSELF}`,
  fees_too_high: `Gas is more expensive than the operator's limit. ${YOURSELF}`,
  unreachable: "The operator does not answer. Check your connection and try again.",
  timeout: "An update may still be on its way: check the age above.",
};

/** Shows the operator's description of a problem, and the page's advice. */
function Problem({ problem, retryAfter }: Extract<RequestEnd, { kind: "problem" }>) {
  const failures = "failures" in problem ? (problem.failures ?? []) : [];
  return (
    <Notice title={problem.title} code={problem.code}>
      <p>{ADVICE[problem.code] ?? problem.detail}</p>
      {retryAfter !== null && <p>Try again in {retryAfter} s.</p>}
      <ul>
        {failures.map(({ provider, host, detail }) => (
          <li key={provider}>
            <code>{host ?? provider}</code> {detail}.
          </li>
        ))}
      </ul>
    </Notice>
  );
}
