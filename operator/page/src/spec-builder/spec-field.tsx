import { type ComponentChildren, createContext } from "preact";
import { useContext } from "preact/hooks";
import { renderInlineCode } from "./inline-code";
import { NO_PROBLEMS } from "./problems-by-field";

/** The problems that fields show. */
export const ProblemsContext = createContext(NO_PROBLEMS);

/** The id of the field for a place of the spec. */
export const fieldId = (at: string) => `spec${at}`;

interface Props {
  readonly name: string;
  /** The place of the value: a JSON pointer into the spec. */
  readonly at: string;
  readonly value: unknown;
  readonly hint?: ComponentChildren;
  readonly placeholder?: string;
  /** True for names, URLs, paths and JSON, which are shown in a monospaced font and not spell-checked. */
  readonly isCode?: boolean;
  readonly isNumber?: boolean;
  readonly onValue: (typed: string) => void;
}

/** A text field of a request spec, with its problem below it. */
export function SpecField({ name, at, value, hint, placeholder, isCode, isNumber, onValue }: Props) {
  const problem = useContext(ProblemsContext).get(at);
  return (
    <div class="field">
      <label for={fieldId(at)}>{name}</label>
      <input
        id={fieldId(at)}
        class={isCode ? "mono" : ""}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={!isCode && !isNumber}
        {...(isNumber && { inputMode: "numeric" })}
        value={textOf(value)}
        placeholder={placeholder}
        aria-invalid={problem !== undefined}
        aria-describedby={`${fieldId(at)}-words`}
        onInput={({ currentTarget }) => onValue(currentTarget.value)}
      />
      <Words at={at} hint={hint} />
    </div>
  );
}

interface ChoiceProps extends Pick<Props, "name" | "at" | "value" | "hint" | "onValue"> {
  /** The values and their names. */
  readonly options: Readonly<Record<string, string>>;
}

/** A field of a request spec that has a few possible values. Any other value is kept until one of them is chosen. */
export function SpecChoice({ name, at, value, hint, options, onValue }: ChoiceProps) {
  const problem = useContext(ProblemsContext).get(at);
  const chosen = textOf(value);
  return (
    <div class="field">
      <label for={fieldId(at)}>{name}</label>
      <select
        id={fieldId(at)}
        value={chosen}
        aria-invalid={problem !== undefined}
        aria-describedby={`${fieldId(at)}-words`}
        onChange={({ currentTarget }) => onValue(currentTarget.value)}
      >
        {!(chosen in options) && <option value={chosen}>{chosen}</option>}
        {Object.entries(options).map(([option, words]) => (
          <option key={option} value={option}>
            {words}
          </option>
        ))}
      </select>
      <Words at={at} hint={hint} />
    </div>
  );
}

/** Shows the problem of a field, or else a hint. */
function Words({ at, hint }: Pick<Props, "at" | "hint">) {
  const problem = useContext(ProblemsContext).get(at);
  return (
    <p id={`${fieldId(at)}-words`} class={problem === undefined ? "small quiet" : "small bad"}>
      {problem === undefined ? hint : renderInlineCode(problem)}
    </p>
  );
}

const textOf = (value: unknown) => (value === undefined || value === null ? "" : String(value));
