// Loaded into the providers (NODE_OPTIONS=--require): their clock differs from this machine's by ATTACK_CLOCK_OFFSET,
// in seconds.
const offsetMs = Number(process.env.ATTACK_CLOCK_OFFSET ?? 0) * 1_000;

if (offsetMs !== 0) {
  const now = Date.now;
  Date.now = () => now() + offsetMs;
}
