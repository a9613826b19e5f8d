import type { UpdateProgress } from "@dataset-oracle/protocol";
import { shortHex } from "../format/names";
import { formatNumber } from "../format/values";
import type { RequestState } from "./run-request";

const STATES = {
  done: { words: "done", tone: "", icon: "M3.5 8.5l3 3 6-7" },
  now: { words: "in progress", tone: "info", icon: "M6 8h4" },
  next: { words: "pending", tone: "quiet", icon: "" },
  failed: { words: "failed", tone: "bad", icon: "M4 4l8 8M12 4l-8 8" },
} as const;

/** Lists the steps of a request, each with its state as an icon, and as a word for screen readers. */
export function Progress({ state }: { state: RequestState }) {
  const steps = stepsOf(state);
  const current = steps.findIndex(({ isDone }) => !isDone);
  const isFailed = state.end?.kind === "problem";
  return (
    <ol class="steps row" aria-label="Progress">
      {steps.map(({ name, detail, isDone }, index) => {
        const { words, tone, icon } =
          STATES[isDone ? "done" : index !== current ? "next" : isFailed ? "failed" : "now"];
        return (
          <li key={name} class={tone}>
            <svg class={isDone ? "sign good" : "sign"} viewBox="0 0 16 16" aria-hidden="true">
              <path d={icon} />
            </svg>
            <span>
              <b>{name}</b> {detail}
              <span class="unseen">, {words}</span>
            </span>
          </li>
        );
      })}
    </ol>
  );
}

interface Step {
  readonly name: string;
  readonly detail: string;
  readonly isDone: boolean;
}

type StepsByEvent = { readonly [Name in UpdateProgress["event"]]?: Extract<UpdateProgress, { event: Name }> };

function stepsOf({ asked: request, steps, end }: RequestState): Step[] {
  const last = Object.fromEntries(steps.map((step) => [step.event, step]));
  const { asked, report, signed, sent, mined } = last as StepsByEvent;
  const count = asked?.providers.length ?? 0;
  const [received, all] = report ? [report.received, report.of] : [0, count];
  const isOver = end !== null && end.kind !== "problem";
  const collecting: Step[] = [
    { name: "Asked", detail: `${count || "the"} data providers`, isDone: asked !== undefined },
    {
      name: "Reports",
      detail: all > 0 ? `${received} of ${all} received` : "",
      isDone: isOver || signed !== undefined || (all > 0 && received === all),
    },
  ];
  if (!request.isBroadcast) return [...collecting, { name: "Transaction", detail: "for you to send", isDone: isOver }];
  return [
    ...collecting,
    { name: "Signed", detail: signed ? shortHex(signed.transaction_hash) : "", isDone: isOver || signed !== undefined },
    { name: "Sent", detail: sent ? "to the network" : "", isDone: isOver || sent !== undefined },
    {
      name: "Mined",
      detail: mined ? `in block ${formatNumber(BigInt(mined.block_number))}` : "",
      isDone: isOver || mined !== undefined,
    },
  ];
}

/** Returns the latest step as a sentence, for screen readers. */
export function progressWords({ asked, steps, end }: RequestState): string {
  if (end?.kind === "problem") return `The request failed. ${end.problem.title}`;
  if (end?.kind === "unsent") return "The transaction is ready for you to send.";
  if (end?.kind === "stored") return "The value is stored.";
  const last = steps.at(-1);
  switch (last?.event) {
    case undefined:
      return `Requesting ${asked.key}.`;
    case "asked":
      return `Asked ${last.providers.length} data providers.`;
    case "report":
      return `Received ${last.received} of ${last.of} reports.`;
    case "signed":
      return "The transaction is signed.";
    case "sent":
      return "The transaction has been sent.";
    case "mined":
      return `The transaction was mined in block ${formatNumber(BigInt(last.block_number))}.`;
  }
}
