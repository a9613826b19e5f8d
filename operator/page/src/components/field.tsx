interface FieldProps {
  readonly id: string;
  readonly label: string;
  readonly placeholder: string;
  readonly text: string;
  readonly onText: (text: string) => void;
  /** What is wrong with the text; null if nothing is. */
  readonly problem: string | null;
  /** Texts to choose from. */
  readonly known?: readonly string[];
}

/** A labelled field, with what is wrong with its text. */
export function Field({ id, label, placeholder, text, onText, problem, known = [] }: FieldProps) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        placeholder={placeholder}
        aria-invalid={problem !== null}
        aria-describedby={`${id}-problem`}
        list={known.length > 0 ? `${id}-known` : undefined}
        value={text}
        onInput={({ currentTarget }) => onText(currentTarget.value)}
      />
      <datalist id={`${id}-known`}>
        {known.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
      <p id={`${id}-problem`} class="small bad">
        {problem}
      </p>
    </div>
  );
}
