import { shortHex } from "../components/copy";
import type { RequestState } from "./run-request";

/** The states of a step. */
const DONE = { words: "done", tone: "", icon: "M3.5 8.5l3 3 6-7" };
const NOW = { words: "in progress", tone: "info", icon: "M6 8h4" };
const NEXT = { words: "pending", tone: "quiet", icon: "" };
const STOPPED = { words: "failed", tone: "bad", icon: "M4 4l8 8M12 4l-8 8" };

interface Step {
  readonly name: string;
  readonly words: string;
  readonly isDone: boolean;
}

/** Lists the steps of a request and their states. */
export function Progress({ state }: { state: RequestState }) {
  const steps = stepsOf(state);
  const current = steps.findIndex(({ isDone }) => !isDone);
  const isFailed = state.end?.kind === "problem";
  return (
    <ol class="steps row" aria-label="Progress">
      {steps.map(({ name, words, isDone }, index) => {
        const state = isDone ? DONE : index !== current ? NEXT : isFailed ? STOPPED : NOW;
        return (
          <li key={name} class={state.tone}>
            <svg class={isDone ? "good" : ""} viewBox="0 0 16 16" aria-hidden="true">
              <path d={state.icon} />
            </svg>
            <span>
              <b>{name}</b> {words}
              <span class="unseen">, {state.words}</span>
            </span>
          </li>
        );
      })}
    </ol>
  );
}

function stepsOf({ asked, steps, end }: RequestState): Step[] {
  const last = Object.fromEntries(steps.map((step) => [step.event, step]));
  const { asked: asking, report, signed, sent, mined } = last as StepsByEvent;
  const count = asking?.providers.length ?? 0;
  const [received, all] = report ? [report.received, report.of] : [0, count];
  const isOver = end !== null && end.kind !== "problem";
  const collecting: Step[] = [
    { name: "Asked", words: `${count || "the"} data providers`, isDone: asking !== undefined },
    {
      name: "Reports",
      words: all > 0 ? `${received} of ${all} received` : "",
      isDone: isOver || signed !== undefined || (all > 0 && received === all),
    },
  ];
  if (!asked.isBroadcast) return [...collecting, { name: "Transaction", words: "for you to send", isDone: isOver }];
  return [
    ...collecting,
    { name: "Signed", words: signed ? shortHex(signed.transaction_hash) : "", isDone: isOver || signed !== undefined },
    { name: "Sent", words: sent ? "to the network" : "", isDone: isOver || sent !== undefined },
    { name: "Mined", words: mined ? `in block ${mined.block_number}` : "", isDone: isOver || mined !== undefined },
  ];
}

type Event = RequestState["steps"][number];
type StepsByEvent = { readonly [Name in Event["event"]]?: Extract<Event, { event: Name }> };

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
      return `The transaction was mined in block ${last.block_number}.`;
  }
}
