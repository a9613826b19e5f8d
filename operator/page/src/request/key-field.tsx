import { keyToAscii, parseKey } from "@dataset-oracle/protocol/dataset-key";
import type { DatasetOverview } from "@dataset-oracle/protocol/http-schemas/overview";
import { useId, useState } from "preact/hooks";
import { keyText } from "../format/key";
import { keyProblem } from "./key-problem";

interface Props {
  readonly dataset: DatasetOverview;
  readonly text: string;
  /** True once the form has been submitted: an empty key is a mistake from then on. */
  readonly isSubmitted: boolean;
  readonly onText: (text: string) => void;
}

const FIELD = "key-as-text";

/** Puts the cursor into the field of the key as text. */
export const focusKeyField = () => document.getElementById(FIELD)?.focus();

/** Two fields for the key, as text and in hex. They are kept in sync. */
export function KeyField({ dataset, text, isSubmitted, onText }: Props) {
  const id = useId();
  const isHex = text.startsWith("0x") || text.startsWith("0X");
  const parsed = parseKey(text);
  // The content of the hex field while it is not a complete key.
  const [draft, setDraft] = useState<string | null>(null);
  const ascii = isHex ? (parsed.ok ? (keyToAscii(parsed.value) ?? "") : "") : text;
  const hex = draft ?? (parsed.ok ? parsed.value : isHex ? text : "");
  const problem = keyProblem(dataset.key_form, text);
  const isWrong = problem !== null && (text !== "" || isSubmitted);
  const size = parsed.ok ? `${(parsed.value.length - 2) / 2} bytes. Both forms identify the same data point.` : null;
  const field = {
    class: "mono",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: false,
    "aria-invalid": isWrong,
    "aria-describedby": `${id}-problem`,
  } as const;
  return (
    <div class="pair">
      <label class="field">
        Key as text
        <input
          {...field}
          id={FIELD}
          value={ascii}
          list={`${id}-known`}
          placeholder={isHex ? "not printable" : dataset.key_form === "SPOT_PRICE" ? "SPOTPX/ETH-USD" : "WEB/…"}
          onInput={({ currentTarget }) => {
            setDraft(null);
            // No key begins or ends with a space, but copied text often does.
            onText(currentTarget.value.trim());
          }}
        />
      </label>
      <label class="field">
        Key in hex
        <input
          {...field}
          value={hex}
          placeholder="0x…"
          onInput={({ currentTarget }) => {
            const typed = currentTarget.value.trim();
            const full = typed === "" || /^0x/i.test(typed) ? typed : `0x${typed}`;
            const read = parseKey(full);
            setDraft(read.ok && full === typed ? null : typed);
            onText(read.ok ? (keyToAscii(read.value) ?? read.value) : full);
          }}
        />
      </label>
      <datalist id={`${id}-known`}>
        {dataset.points?.map((point) => (
          <option key={point.key_hex} value={keyText(point)} />
        ))}
      </datalist>
      <p id={`${id}-problem`} class={isWrong ? "small bad" : "small quiet"}>
        {problem ?? size}
      </p>
    </div>
  );
}
