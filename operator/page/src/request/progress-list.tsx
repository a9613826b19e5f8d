import { shortHex } from "../format/names";
import type { RequestState } from "./run-request";

interface Step {
  readonly name: string;
  readonly words: string;
  readonly state: "done" | "now" | "next" | "stopped";
}

/** Lists the steps of a request and their states. */
export function ProgressList({ state }: { state: RequestState }) {
  return (
    <ol class="steps" aria-label="Progress">
      {stepsOf(state).map(({ name, words, state }) => (
        <li key={name} class={`step step-${state}`}>
          <svg viewBox="0 0 16 16" aria-hidden="true">
            {state === "done" && <path d="M3.5 8.5l3 3 6-7" />}
            {state === "stopped" && <path d="M4 4l8 8M12 4l-8 8" />}
            {state === "now" && <circle cx="8" cy="8" r="3" />}
          </svg>
          <span>
            <b>{name}</b> {words}
            <span class="unseen">
              {{ done: ", done", now: ", in progress", next: ", pending", stopped: ", failed" }[state]}
            </span>
          </span>
        </li>
      ))}
    </ol>
  );
}

function stepsOf({ asked, steps, end }: RequestState): Step[] {
  const of = <E extends string>(event: E) => steps.findLast((step) => step.event === event);
  const [asking, report, signed, sent, mined] = [of("asked"), of("report"), of("signed"), of("sent"), of("mined")];
  const count = asking?.event === "asked" ? asking.providers.length : null;
  const [received, all] = report?.event === "report" ? [report.received, report.of] : [0, count ?? 0];
  const hash = signed?.event === "signed" ? shortHex(signed.transaction_hash) : "";
  const isFailed = end?.kind === "problem";
  const isOver = end !== null && !isFailed;
  const isStored = asked.isBroadcast && isOver;
  const list: { name: string; words: string; isDone: boolean }[] = [
    {
      name: "Asked",
      words: count === null ? "the data providers" : `${count} data providers`,
      isDone: asking !== undefined,
    },
    {
      name: "Reports",
      words: all > 0 ? `${received} of ${all} received` : "",
      isDone: isOver || signed !== undefined || (all > 0 && received === all),
    },
    ...(asked.isBroadcast
      ? [
          { name: "Signed", words: hash, isDone: isStored || signed !== undefined },
          { name: "Sent", words: sent ? "to the network" : "", isDone: isStored || sent !== undefined },
          {
            name: "Mined",
            words: mined?.event === "mined" ? `in block ${mined.block_number}` : "",
            isDone: mined !== undefined || isStored,
          },
        ]
      : [{ name: "Transaction", words: "for you to send", isDone: isOver }]),
  ];
  const current = list.findIndex(({ isDone }) => !isDone);
  return list.map(({ name, words, isDone }, place) => {
    if (isDone) return { name, words, state: "done" };
    if (place !== current) return { name, words, state: "next" };
    return { name, words, state: isFailed ? "stopped" : "now" };
  });
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
      return `The transaction was mined in block ${last.block_number}.`;
  }
}
