import { KEY_FORM_WORDS, type KeyForm, matchesKeyForm, parseKey } from "@dataset-oracle/protocol/key";

/** What is wrong with a key, before anybody is asked; null if nothing is. */
export function keyProblem(form: KeyForm, text: string): string | null {
  const parsed = parseKey(text);
  if (!parsed.ok) return parsed.error;
  if (matchesKeyForm(form, parsed.value)) return null;
  const upper = parseKey(text.toUpperCase());
  if (form === "SPOT_PRICE" && upper.ok && matchesKeyForm(form, upper.value)) {
    return `Keys are in capitals: ${text.toUpperCase()}.`;
  }
  return `This dataset's keys are ${KEY_FORM_WORDS[form]}.`;
}
