/**
 * Serializes each answer once, because callers share answers. Fastify's own serializer would check them against their
 * schemas, which only document what this program builds.
 */
export function serializeOnce(): (answer: object) => string {
  const known = new WeakMap<object, Buffer>();
  const serialize = (answer: object): Buffer => {
    const bytes = known.get(answer);
    if (bytes !== undefined) return bytes;
    const created = Buffer.from(JSON.stringify(answer));
    known.set(answer, created);
    return created;
  };
  // Fastify sends bytes as they are, but its types allow only text.
  return serialize as unknown as (answer: object) => string;
}
