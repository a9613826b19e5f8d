import { parseKey } from "@dataset-oracle/protocol/dataset-key";
import { KEY_FORM_WORDS, type KeyForm, matchesKeyForm } from "@dataset-oracle/protocol/key-form";

/** Checks a key before the operator is asked. Returns the problem, or null. */
export function keyProblem(form: KeyForm, text: string): string | null {
  if (text === "") return "Enter a key.";
  const parsed = parseKey(text);
  if (!parsed.ok) return parsed.error;
  if (matchesKeyForm(form, parsed.value)) return null;
  const upper = parseKey(text.toUpperCase());
  if (form === "SPOT_PRICE" && upper.ok && matchesKeyForm(form, upper.value)) {
    return `Write the key in upper case: ${text.toUpperCase()}.`;
  }
  return `This dataset's keys have the form ${KEY_FORM_WORDS[form]}.`;
}
