import type { Result } from "@dataset-oracle/protocol/result";
import { useContext, useEffect, useState } from "preact/hooks";
import { RadioGroup } from "../components/radio-group";
import { renderInlineCode } from "./inline-code";
import { draftToText, type SpecDraft } from "./spec-draft";
import { fieldId, ProblemsContext } from "./spec-field";
import { SpecForm } from "./spec-form";

interface Props {
  /** The document as it was written. */
  readonly text: string;
  readonly parsed: Result<SpecDraft>;
  readonly onText: (text: string) => void;
  /** Missing where there is no example. */
  readonly fillInExample?: () => void;
}

const VIEWS = ["Form", "JSON"] as const;

/** Edits a request spec, as a form or as the JSON document that it is. Both show the same. */
export function SpecEditor({ text, parsed, onText, fillInExample }: Props) {
  const [view, setView] = useState<(typeof VIEWS)[number]>("Form");
  const problems = useContext(ProblemsContext);
  // The problems of places without a field in this view. Fields are looked for once they have been rendered.
  const [others, setOthers] = useState<readonly (readonly [string, string])[]>([]);
  useEffect(() => setOthers([...problems].filter(([at]) => !hasField(at))), [problems, view, text]);
  const error = parsed.ok ? undefined : parsed.error;
  const isForm = view === "Form" && parsed.ok;
  return (
    <section class="card" aria-labelledby="spec-editor">
      <div class="row bar">
        <h2 id="spec-editor">1. Describe the value</h2>
        <RadioGroup name="Edit as" options={VIEWS} chosen={view} onChosen={setView} />
      </div>
      <p class="quiet">
        A request spec says where a value is read on the web, and how it becomes a number or a word on chain.
      </p>
      {fillInExample && (
        <button type="button" class="button" onClick={fillInExample}>
          Fill in an example
        </button>
      )}
      {others.length > 0 && (
        <ul class="note bad" aria-label="Problems of the spec">
          {others.map(([at, problem]) => (
            <li key={at}>
              {at !== "" && <code>{at}</code>} {renderInlineCode(problem)}
            </li>
          ))}
        </ul>
      )}
      {view === "Form" && !parsed.ok && <p class="empty bad">{parsed.error} Switch to JSON to correct it.</p>}
      {isForm && <SpecForm draft={parsed.value} onDraft={(draft) => onText(draftToText(draft))} />}
      {view === "JSON" && (
        <div class="field json">
          <label for="spec-json">The document</label>
          <textarea
            id="spec-json"
            class="mono"
            rows={Math.min(40, Math.max(12, text.split("\n").length + 1))}
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            value={text}
            aria-invalid={error !== undefined}
            aria-describedby="spec-json-words"
            onInput={({ currentTarget }) => onText(currentTarget.value)}
          />
          <p id="spec-json-words" class={error === undefined ? "small quiet" : "small bad"}>
            {error ?? "Its layout does not matter: what is published is its canonical form."}
          </p>
        </div>
      )}
    </section>
  );
}

const hasField = (at: string) => document.getElementById(fieldId(at)) !== null;
