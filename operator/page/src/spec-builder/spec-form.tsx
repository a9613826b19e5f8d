import {
  type Draft,
  NEW_VARIABLE,
  nextSource,
  parseWholeNumber,
  type SpecDraft,
  scaleOf,
  valueTypeOf,
  withProperty,
  withScale,
  withSourceProperty,
  withType,
  withUnit,
} from "./spec-draft";
import { SpecChoice, SpecField } from "./spec-field";

interface Props {
  readonly draft: SpecDraft;
  readonly onDraft: (draft: SpecDraft) => void;
}

const TYPES = {
  uint: "Number",
  bool: "True or false",
  string: "Text of at most 32 bytes",
  bytes32: "32 bytes in hex",
};
const ROUNDINGS = { "half-even": "rounded half to even", truncate: "cut off" };
const VARIABLE_TYPES = { string: "Text", integer: "Integer" };
const CHARACTERS = {
  unicode: "all but control characters",
  ascii: "printable ASCII",
  unreserved: "letters, digits, -._~",
  alphanumeric: "letters and digits",
  letters: "letters",
  "upper-case": "upper-case letters",
  "lower-case": "lower-case letters",
  hex: "hex digits in lower case",
  digits: "digits",
};
const COMBINATIONS = { equal: "the value of all of them, if equal", majority: "the value of more than half of them" };

/** Returns the place, the value and the change of any property of a part of the draft. */
const bind =
  <T extends Draft>(part: T, at: string, onPart: (next: T) => void) =>
  (property: string, parse: (typed: string) => unknown = (typed) => typed) => ({
    at: `${at}/${property}`,
    value: part[property],
    onValue: (typed: string) => onPart(withProperty(part, property, parse(typed))),
  });

/** The fields of a request spec. What has no field here is kept, and edited as JSON. */
export function SpecForm({ draft, onDraft }: Props) {
  return (
    <>
      <ValueFields draft={draft} onDraft={onDraft} />
      <VariableFields draft={draft} onDraft={onDraft} />
      <SourceFields draft={draft} onDraft={onDraft} />
      <CombinationFields draft={draft} onDraft={onDraft} />
    </>
  );
}

function ValueFields({ draft, onDraft }: Props) {
  const isNumber = valueTypeOf(draft) === "uint";
  const scale = scaleOf(draft);
  const of = bind(draft, "", onDraft);
  const isMixed = isNumber && scale === undefined && (draft.sources?.length ?? 0) > 1;
  return (
    <fieldset class="part">
      <legend>The value</legend>
      <SpecField
        name="Title"
        {...of("title")}
        placeholder="The air temperature in a city"
        hint="Describes the value to people."
      />
      <div class="fields">
        <SpecChoice
          name="Type"
          at="/sources/0/type"
          value={valueTypeOf(draft)}
          options={TYPES}
          onValue={(type) => onDraft(withType(draft, type))}
        />
        {isNumber && (
          <>
            <SpecField
              name="Decimals kept"
              at="/sources/0/decimals"
              isNumber
              value={scale}
              hint={
                isMixed
                  ? "The sources have different scales: edit them as JSON."
                  : "On chain, the number is multiplied by 10 to this power."
              }
              onValue={(typed) => onDraft(withScale(draft, parseWholeNumber(typed)))}
            />
            <SpecChoice
              name="Further digits are"
              at="/sources/0/rounding"
              value={draft.sources?.[0]?.rounding}
              options={ROUNDINGS}
              onValue={(rounding) => onDraft(withSourceProperty(draft, "rounding", rounding))}
            />
            <SpecField
              name="Unit"
              at="/unit/symbol"
              value={draft.unit?.symbol}
              placeholder="K"
              hint="Optional, such as K or USD."
              onValue={(symbol) => onDraft(withUnit(draft, symbol))}
            />
          </>
        )}
      </div>
    </fieldset>
  );
}

function VariableFields({ draft, onDraft }: Props) {
  const { variables = [] } = draft;
  const onVariables = (next: readonly Draft[]) => onDraft(withProperty(draft, "variables", next));
  return (
    <fieldset class="part">
      <legend>Variables</legend>
      <p class="small quiet">
        With a variable, one spec has many keys: each key's argument replaces the name in braces, such as{" "}
        <code>{"{city}"}</code>, in the URL, the body or a path.
      </p>
      {variables.map((variable, index) => {
        const onVariable = (next: Draft) => onVariables(variables.with(index, next));
        const of = bind(variable, `/variables/${index}`, onVariable);
        return (
          <fieldset key={index} class="item">
            <legend class="unseen">Variable {index + 1}</legend>
            <div class="fields">
              <SpecField name="Name" {...of("name")} isCode placeholder="city" />
              <SpecChoice
                name="Kind"
                {...of("type")}
                options={VARIABLE_TYPES}
                onValue={(type) =>
                  onVariable({ ...variable, type, ...(type === "integer" && { characters: "digits", minLength: 1 }) })
                }
              />
              <SpecChoice name="Characters" {...of("characters")} options={CHARACTERS} />
              <SpecField name="Minimum length" {...of("minLength", parseWholeNumber)} isNumber />
              <SpecField name="Maximum length" {...of("maxLength", parseWholeNumber)} isNumber />
            </div>
            <button type="button" class="copy" onClick={() => onVariables(variables.filter((_, at) => at !== index))}>
              Remove<span class="unseen"> variable {index + 1}</span>
            </button>
          </fieldset>
        );
      })}
      {variables.length < 8 && (
        <button type="button" class="button" onClick={() => onVariables([...variables, NEW_VARIABLE])}>
          Add a variable
        </button>
      )}
    </fieldset>
  );
}

function SourceFields({ draft, onDraft }: Props) {
  const { sources = [] } = draft;
  const onSources = (next: readonly Draft[]) => onDraft(withProperty(draft, "sources", next));
  return (
    <fieldset class="part">
      <legend>Sources</legend>
      {sources.map((source, index) => {
        const onSource = (next: Draft) => onSources(sources.with(index, next));
        const of = bind(source, `/sources/${index}`, onSource);
        return (
          <fieldset key={index} class="item">
            <legend class="unseen">Source {index + 1}</legend>
            <div class="fields of-source">
              <SpecChoice
                name="Method"
                {...of("method")}
                options={{ GET: "GET", POST: "POST" }}
                onValue={(method) => {
                  const body = method === "POST" ? (source.body ?? "{}") : undefined;
                  onSource(withProperty({ ...source, method }, "body", body));
                }}
              />
              <SpecField
                name="URL"
                {...of("url", (typed) => typed.trim())}
                isCode
                placeholder="https://api.weather.example/now?city={city}"
              />
              {source.method === "POST" && (
                <SpecField name="Body" {...of("body")} isCode hint="JSON, with variables inside its strings." />
              )}
              <SpecField
                name="Path of the value"
                {...of("path")}
                isCode
                placeholder="$.air.kelvin"
                hint="JSONPath that matches exactly one node."
              />
              <SpecField
                name="Path of an error"
                {...of("errorPath", (typed) => typed || undefined)}
                isCode
                placeholder="$.error"
                hint="Optional: an answer that this path matches is an error, and gives no value."
              />
            </div>
            {sources.length > 1 && (
              <button type="button" class="copy" onClick={() => onSources(sources.filter((_, at) => at !== index))}>
                Remove<span class="unseen"> source {index + 1}</span>
              </button>
            )}
          </fieldset>
        );
      })}
      {sources.length < 8 && (
        <button type="button" class="button" onClick={() => onSources([...sources, nextSource(draft)])}>
          Add a source
        </button>
      )}
    </fieldset>
  );
}

function CombinationFields({ draft, onDraft }: Props) {
  const isNumber = valueTypeOf(draft) === "uint";
  const of = bind(draft, "", onDraft);
  return (
    <fieldset class="part">
      <legend>Combining the sources</legend>
      <div class="fields">
        <SpecField
          name="Sources that must answer"
          {...of("minSources", parseWholeNumber)}
          isNumber
          hint={`Out of ${draft.sources?.length ?? 0}. If fewer answer, there is no value.`}
        />
        <SpecChoice
          name="Combined value"
          {...of("combine")}
          options={isNumber ? { median: "their median" } : COMBINATIONS}
        />
      </div>
    </fieldset>
  );
}
