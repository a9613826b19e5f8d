import { keyToAscii, parseKey } from "@dataset-oracle/protocol/key";
import type { DatasetOverview } from "@dataset-oracle/protocol/wire-data";
import { useId, useState } from "preact/hooks";
import { keyText } from "../format/key";
import { keyProblem } from "./key-problem";

interface Props {
  readonly dataset: DatasetOverview;
  readonly text: string;
  readonly onText: (text: string) => void;
}

/** Two fields for the key, as text and in hex. Each follows the other. */
export function KeyField({ dataset, text, onText }: Props) {
  const id = useId();
  const isHex = text.startsWith("0x") || text.startsWith("0X");
  const parsed = parseKey(text);
  // The content of the hex field while it is not a complete key.
  const [draft, setDraft] = useState<string | null>(null);
  const ascii = isHex ? (parsed.ok ? (keyToAscii(parsed.value) ?? "") : "") : text;
  const hex = draft ?? (parsed.ok ? parsed.value : isHex ? text : "");
  const problem = text === "" ? null : keyProblem(dataset.key_form, text);
  const described = `${id}-problem`;
  return (
    <div class="key-fields">
      <div class="field">
        <label for={`${id}-text`}>Key as text</label>
        <input
          id={`${id}-text`}
          class="mono"
          value={ascii}
          list={`${id}-known`}
          placeholder={isHex ? "not printable" : dataset.key_form === "SPOT_PRICE" ? "SPOTPX/ETH-USD" : "WEB/…"}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          aria-invalid={problem !== null}
          aria-describedby={described}
          onInput={({ currentTarget }) => {
            setDraft(null);
            onText(currentTarget.value);
          }}
        />
        <datalist id={`${id}-known`}>
          {dataset.points?.map((point) => (
            <option key={point.key_hex} value={keyText(point)} />
          ))}
        </datalist>
      </div>
      <div class="field">
        <label for={`${id}-hex`}>Key in hex</label>
        <input
          id={`${id}-hex`}
          class="mono"
          value={hex}
          placeholder="0x…"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          aria-invalid={problem !== null}
          aria-describedby={described}
          onInput={({ currentTarget }) => {
            const typed = currentTarget.value.trim();
            const read = parseKey(typed);
            setDraft(read.ok ? null : typed);
            onText(read.ok ? (keyToAscii(read.value) ?? read.value) : typed);
          }}
        />
      </div>
      <p id={described} class={problem === null ? "field-note quiet" : "field-note tone-bad"}>
        {problem ??
          (parsed.ok
            ? `${(parsed.value.length - 2) / 2} bytes. Both forms identify the same data point.`
            : "Enter a key.")}
      </p>
    </div>
  );
}
