import type { DatasetOverview } from "@dataset-oracle/protocol/http-schemas/overview";
import { useId, useState } from "preact/hooks";
import { tellScreenReaders } from "../components/copy";
import { Field } from "../components/field";
import { keyProblem } from "../format/key-problem";
import { keyText } from "../format/names";
import { pointPath } from "../route";

/** The id of a request spec: whoever has it may want to know what its keys are. */
const SPEC_ID = /^(?:0x)?([0-9a-f]{64})$/;

/** A field that opens the page of a key, whether it is listed or not. */
export function LookUp({ networkId, dataset }: { networkId: number; dataset: DatasetOverview }) {
  const [text, setText] = useState("");
  const [isTried, setTried] = useState(false);
  const id = useId();
  const isOfSpecs = dataset.key_form === "WEB_ORACLE";
  const key = text.replace(SPEC_ID, "WEB/$1");
  const problem = keyProblem(dataset.key_form, key);
  const open = (event: Event) => {
    event.preventDefault();
    setTried(true);
    if (problem !== null) return tellScreenReaders(problem);
    location.hash = pointPath(networkId, dataset.dataset, key);
  };
  return (
    <form class="short" onSubmit={open}>
      <Field
        id={id}
        label={isOfSpecs ? "Any other key, or the id of a spec" : "Any other key"}
        placeholder={isOfSpecs ? "WEB/… or 0x…" : "SPOTPX/ETH-USD"}
        text={text}
        // No key begins or ends with a space, but copied text often does.
        onText={(changed) => setText(changed.trim())}
        problem={text !== "" || isTried ? problem : null}
        known={dataset.points?.map(keyText) ?? []}
      />
      <button type="submit">Look it up</button>
    </form>
  );
}
