/**
 * Serializes each answer once, because callers share answers. Fastify's own serializer would check them against their
 * schemas, which only document what this program builds.
 */
export function serializeOnce(): (answer: object) => string {
  const known = new WeakMap<object, string>();
  return (answer) => {
    const text = known.get(answer) ?? JSON.stringify(answer);
    known.set(answer, text);
    return text;
  };
}
