import { showKey } from "../format/key";

/** Shows a key with its prefix toned down. */
export function KeyLabel({ text, title }: { text: string; title: string | null }) {
  const shown = showKey(text, title);
  if (shown.title !== null) {
    return (
      <span class="key">
        <span class="key-name">{shown.title}</span>
        <span class="key-more">
          {shown.name && <b>{shown.name}</b>} <code>{shown.prefix}</code>
        </span>
      </span>
    );
  }
  return (
    <span class="key">
      <span class="key-name">
        <span class="quiet">{shown.prefix}</span>
        {shown.name}
      </span>
    </span>
  );
}
