import { parseKey } from "@dataset-oracle/protocol/dataset-key";
import type { DatasetOverview } from "@dataset-oracle/protocol/http-schemas/overview";
import { useId } from "preact/hooks";
import { keyText } from "../format/names";
import { keyProblem } from "./key-problem";

interface Props {
  readonly dataset: DatasetOverview;
  readonly text: string;
  readonly onText: (text: string) => void;
}

/** A field for the key, in ASCII or in hex. */
export function KeyField({ dataset, text, onText }: Props) {
  const id = useId();
  const parsed = parseKey(text);
  const problem = keyProblem(dataset.key_form, text);
  const isWrong = problem !== null && text !== "";
  const size = parsed.ok ? `${(parsed.value.length - 2) / 2} bytes. ` : "";
  return (
    <div class="field">
      <label for={id}>Key</label>
      <input
        id={id}
        class="mono"
        required
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        aria-invalid={isWrong}
        aria-describedby={`${id}-about`}
        value={text}
        list={`${id}-known`}
        placeholder={dataset.key_form === "SPOT_PRICE" ? "SPOTPX/ETH-USD" : "WEB/…"}
        // No key begins or ends with a space, but copied text often does.
        onInput={({ currentTarget }) => onText(currentTarget.value.trim())}
      />
      <datalist id={`${id}-known`}>
        {dataset.points?.map((point) => (
          <option key={point.key_hex} value={keyText(point)} />
        ))}
      </datalist>
      <p id={`${id}-about`} class={isWrong ? "small bad" : "small quiet"}>
        {isWrong ? problem : `${size}As text, or in hex after 0x: both name the same data point.`}
      </p>
    </div>
  );
}
