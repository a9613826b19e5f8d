import { Step } from "../components/step";
import { shortHex } from "../format/hex";
import type { RequestState } from "./run-request";

interface StepOfRequest {
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
        const state = isDone ? "done" : index !== current ? "next" : isFailed ? "failed" : "now";
        return (
          <Step key={name} name={name} state={state}>
            {words}
          </Step>
        );
      })}
    </ol>
  );
}

function stepsOf({ asked: request, steps, end }: RequestState): StepOfRequest[] {
  const last = Object.fromEntries(steps.map((step) => [step.event, step]));
  const { asked, report, signed, sent, mined } = last as StepsByEvent;
  const count = asked?.providers.length ?? 0;
  const [received, all] = report ? [report.received, report.of] : [0, count];
  const isOver = end !== null && end.kind !== "problem";
  const collecting: StepOfRequest[] = [
    { name: "Asked", words: `${count || "the"} data providers`, isDone: asked !== undefined },
    {
      name: "Reports",
      words: all > 0 ? `${received} of ${all} received` : "",
      isDone: isOver || signed !== undefined || (all > 0 && received === all),
    },
  ];
  if (!request.isBroadcast) return [...collecting, { name: "Transaction", words: "for you to send", isDone: isOver }];
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
