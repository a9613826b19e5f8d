/**
 * The CPU time of a process that shows its figures at an address: all of its threads, in user and system mode.
 *
 * @returns Seconds since it started.
 */
export async function cpuTime(metricsUrl) {
  const text = await (await fetch(metricsUrl)).text();
  return Number(/^process_cpu_seconds_total (\S+)$/m.exec(text)?.[1]);
}
