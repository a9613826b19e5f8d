/** Shows a key with its prefix toned down. */
export function KeyName({ prefix, name }: { prefix: string; name: string }) {
  return (
    <>
      <span class="quiet">{prefix}</span>
      {name}
    </>
  );
}
