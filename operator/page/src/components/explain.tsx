/** One-sentence explanations, shown on demand. */

const TERMS = {
  age: {
    words: "24 s of 30 s",
    text: "“24 s of 30 s” says that the value is 24 s old, and that this operator updates it when it is 30 s old at the latest.",
  },
  round: { words: "Round", text: "A round is the second that all signed values of one update are about." },
  spread: { words: "Spread", text: "The spread is the highest value that was signed in the round, minus the lowest." },
  agreed: {
    words: "Agreed",
    text: "A provider agreed in a round if what it signed is what was stored: of numbers, one within the dataset's tolerance.",
  },
} as const;
export type Term = keyof typeof TERMS;

const idOf = (term: string) => `about-${term}`;

/** A button that shows what a term means. */
export function Explain({ term }: { term: Term }) {
  return (
    <button type="button" class="explain" popovertarget={idOf(term)} aria-label={`What “${TERMS[term].words}” means`}>
      ?
    </button>
  );
}

/** The explanations, once for all buttons of the page. */
export function Explanations() {
  return (
    <>
      {Object.entries(TERMS).map(([term, { text }]) => (
        <p key={term} id={idOf(term)} popover="auto" class="explanation">
          {text}
        </p>
      ))}
    </>
  );
}
