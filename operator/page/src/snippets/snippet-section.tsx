import type { DatasetOverview, NetworkOverview, ValueFormat } from "@dataset-oracle/protocol/wire-data";
import { BASE } from "../api/base";
import { CodeBlock } from "../components/code-block";
import { Tabs } from "../components/tabs";
import { snippets } from "./snippets";

interface Props {
  readonly network: NetworkOverview;
  readonly dataset: DatasetOverview;
  /** The key as it was typed. */
  readonly text: string;
  readonly format?: ValueFormat | null;
}

/** How the data point is read by a program. */
export function SnippetSection({ network, dataset, text, format }: Props) {
  const known = dataset.points?.find(({ key, key_hex }) => key === text || key_hex === text)?.format ?? null;
  const subject = { operator: BASE, networkId: network.network_id, dataset, key: text, format: format ?? known };
  const shown = snippets(subject);
  return (
    <section class="card" aria-labelledby="read">
      <h2 id="read">Read it in your program</h2>
      {shown.length === 0 ? (
        <p class="empty">Type a key above: the programs are filled in with it.</p>
      ) : (
        <Tabs
          label="Language"
          tabs={shown.map(({ name, note, text: code }) => ({
            name,
            panel: (
              <>
                <p class="quiet">{note}</p>
                <CodeBlock name={name} what={`the ${name} program`} text={code} />
              </>
            ),
          }))}
        />
      )}
    </section>
  );
}
