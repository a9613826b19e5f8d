import type { DatasetOverview, NetworkOverview, ValueFormat } from "@dataset-oracle/protocol/wire-data";
import { BASE } from "../api/base";
import { CodeBlock } from "../components/code-block";
import { Tabs } from "../components/tabs";
import { snippets } from "./snippets";

interface Props {
  readonly network: NetworkOverview;
  readonly dataset: DatasetOverview;
  /** The key as it was entered. */
  readonly text: string;
  readonly format?: ValueFormat | null;
}

/** Shows code that reads the data point. */
export function SnippetSection({ network, dataset, text, format }: Props) {
  const known = dataset.points?.find(({ key, key_hex }) => key === text || key_hex === text)?.format ?? null;
  const dataPoint = { operator: BASE, networkId: network.network_id, dataset, key: text, format: format ?? known };
  const shown = snippets(dataPoint);
  return (
    <section class="card" aria-labelledby="read">
      <h2 id="read">Read it from code</h2>
      {shown.length === 0 ? (
        <p class="empty">Enter a key above to fill in the examples.</p>
      ) : (
        <Tabs
          label="Language"
          tabs={shown.map(({ name, note, text: code }) => ({
            name,
            panel: (
              <>
                <p class="quiet">{note}</p>
                <CodeBlock name={name} what={`the ${name} code`} text={code} />
              </>
            ),
          }))}
        />
      )}
    </section>
  );
}
