import type { ValueFormat } from "@dataset-oracle/protocol/http-schemas/overview";
import { useId, useRef, useState } from "preact/hooks";
import { CodeBlock } from "../components/copy";
import type { NetworkAndDataset } from "../live/overview";
import { OPERATOR_URL } from "../operator-api";
import { highlight } from "./highlight";
import { type Snippet, snippets } from "./snippets";

interface Props extends NetworkAndDataset {
  /** The key as it was entered. */
  readonly text: string;
  readonly format?: ValueFormat | null;
}

/** Shows code that reads the data point. */
export function SnippetSection({ network, dataset, text, format }: Props) {
  const listed = dataset.points?.find(({ key, key_hex }) => key === text || key_hex === text)?.format ?? null;
  const dataPoint = {
    operator: OPERATOR_URL,
    networkId: network.network_id,
    lens: network.verified_lens,
    dataset,
    format: format ?? listed,
  };
  const shown = snippets(text, dataPoint);
  return (
    <section class="card" aria-labelledby="read">
      <h2 id="read">Read it from code</h2>
      {shown.length > 0 ? <Tabs snippets={shown} /> : <p class="empty">Enter a key above to fill in the examples.</p>}
    </section>
  );
}

const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };

/** Shows one of the snippets, chosen by pointer or arrow keys. */
function Tabs({ snippets }: { snippets: readonly Snippet[] }) {
  const [chosen, setChosen] = useState(0);
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = (chosen + step + snippets.length) % snippets.length;
    setChosen(next);
    list.current?.querySelectorAll("button")[next]?.focus();
  };
  const snippet = snippets[chosen];
  return (
    <>
      <div ref={list} role="tablist" aria-label="Language" onKeyDown={onKeyDown}>
        {snippets.map(({ name }, index) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-${index}`}
            aria-controls={`${id}-panel`}
            aria-selected={index === chosen}
            tabIndex={index === chosen ? 0 : -1}
            onClick={() => setChosen(index)}
          >
            {name}
          </button>
        ))}
      </div>
      {snippet && (
        <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${chosen}`}>
          <p class="quiet">{snippet.note}</p>
          <CodeBlock name={snippet.name} what={`the ${snippet.name} code`} text={snippet.text}>
            {highlight(snippet.text, snippet.language)}
          </CodeBlock>
        </div>
      )}
    </>
  );
}
