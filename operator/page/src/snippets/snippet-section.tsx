import type { ValueFormat } from "@dataset-oracle/protocol/http-schemas/overview";
import { CodeBlock } from "../components/copy";
import type { NetworkAndDataset } from "../live/overview";
import { OPERATOR_URL } from "../operator-api";
import { snippets } from "./snippets";

interface SnippetSectionProps extends NetworkAndDataset {
  /** The key, in ASCII or in hex after `0x`. */
  readonly text: string;
  readonly format: ValueFormat | null;
}

/** Shows code that reads the data point, one language at a time. */
export function SnippetSection({ network, dataset, text, format }: SnippetSectionProps) {
  const shown = snippets(text, {
    operator: OPERATOR_URL,
    networkId: network.network_id,
    lens: network.verified_lens,
    dataset,
    format,
  });
  if (shown.length === 0) return null;
  return (
    <section class="card" aria-labelledby="read">
      <h2 id="read">Read it in a contract</h2>
      {shown.map(({ name, note, text: code }, index) => (
        <details key={name} name="snippet" open={index === 0}>
          <summary>{name}</summary>
          <p class="quiet">{note}</p>
          <CodeBlock what={`the ${name} code`} text={code} />
        </details>
      ))}
    </section>
  );
}
