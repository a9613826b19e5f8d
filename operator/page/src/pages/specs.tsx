import { argumentProblem } from "@dataset-oracle/protocol/argument-problem";
import { keyToAscii } from "@dataset-oracle/protocol/dataset-key";
import type { DatasetOverview, PublishedSpec } from "@dataset-oracle/protocol/http-schemas/overview";
import { parseWebOracleKey, type WebOracleKeyContent, webOracleKey } from "@dataset-oracle/protocol/web-oracle-key";
import { useId, useState } from "preact/hooks";
import type { Hex } from "viem";
import { tellScreenReaders } from "../components/copy";
import { Field } from "../components/field";
import { GUIDE_URL } from "../components/frame";
import { pointPath } from "../route";
import { LookUp } from "./look-up";

/** Parses a Web Oracle key, in hex; null if it is none. */
export function parseSpecKey(key: string): WebOracleKeyContent | null {
  const parsed = parseWebOracleKey(key as Hex);
  return parsed.ok ? parsed.value : null;
}

/** Lists the request specs that the operator names, each with fields for its arguments, and looks up any other. */
export function Specs({ networkId, dataset }: { networkId: number; dataset: DatasetOverview }) {
  const known = dataset.points?.flatMap(({ key_hex }) => parseSpecKey(key_hex) ?? []) ?? [];
  return (
    <ul class="list">
      {dataset.specs.map(({ spec_hash: hash, variables, format: { title, unit, sources } }) => (
        <li key={hash}>
          <b>{title}</b>
          <span class="small quiet">
            {unit && `in ${unit}, `}from {sources.join(", ")}
          </span>
          <SpecForm
            {...{ networkId, hash, variables }}
            name={title ?? hash}
            dataset={dataset.dataset}
            example={known.find(({ specHash }) => specHash === hash)?.args ?? []}
          />
        </li>
      ))}
      <li>
        <LookUp networkId={networkId} dataset={dataset} />
        <p class="small quiet more">
          Anyone can publish a spec: <a href={`${GUIDE_URL}web-oracle/`}>the guide</a> says how. Each data provider
          decides for itself which hosts it asks, so a key may have no value.
        </p>
      </li>
    </ul>
  );
}

interface FormProps {
  readonly networkId: number;
  readonly dataset: string;
  readonly hash: string;
  /** What the form is for. */
  readonly name: string;
  readonly variables: PublishedSpec["variables"];
  /** Arguments of another key. */
  readonly example?: readonly string[];
}

/** A field for each argument of a key of a request spec, and a button that opens the data point. */
export function SpecForm({ networkId, dataset, hash, name, variables, example = [] }: FormProps) {
  const [args, setArgs] = useState<readonly string[]>(variables.map(() => ""));
  const [isTried, setTried] = useState(false);
  const id = useId();
  const key = webOracleKey({ specHash: hash as Hex, args });
  const problems = variables.map((variable, index) => argumentProblem(variable, args[index] ?? ""));
  const open = (event: Event) => {
    event.preventDefault();
    setTried(true);
    const wrong = problems.findIndex((problem) => problem !== null);
    if (wrong !== -1) return document.getElementById(`${id}-${wrong}`)?.focus();
    if (!key.ok) return tellScreenReaders(key.error);
    location.hash = pointPath(networkId, dataset, keyToAscii(key.value) ?? key.value);
  };
  return (
    <form class="short" aria-label={name} onSubmit={open}>
      {variables.map(({ name }, index) => (
        <Field
          key={name}
          id={`${id}-${index}`}
          label={name}
          placeholder={example[index] ?? ""}
          text={args[index] ?? ""}
          onText={(text) => setArgs(args.with(index, text))}
          problem={(isTried || args[index]) && problems[index] ? `The argument ${name} ${problems[index]}.` : null}
        />
      ))}
      {!key.ok && <p class="small bad">{key.error}</p>}
      <button type="submit">See the value</button>
    </form>
  );
}
