import { useId } from "preact/hooks";

interface Props<Option extends string> {
  /** Names the group for screen readers. */
  readonly name: string;
  readonly options: readonly Option[];
  readonly chosen: Option;
  readonly onChosen: (option: Option) => void;
}

/** A choice of one among few options, side by side. */
export function RadioGroup<Option extends string>({ name, options, chosen, onChosen }: Props<Option>) {
  const group = useId();
  return (
    <fieldset class="radios">
      <legend class="unseen">{name}</legend>
      {options.map((option) => (
        <label key={option}>
          <input type="radio" name={group} checked={option === chosen} onChange={() => onChosen(option)} />
          {option}
        </label>
      ))}
    </fieldset>
  );
}
