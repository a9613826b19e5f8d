/**
 * Reads the CPU time of a process from its Prometheus metrics: all of its threads, in user and system mode.
 *
 * @returns CPU seconds used since the process started; NaN if the metric is missing.
 */
export async function readCpuSeconds(metricsUrl: string): Promise<number> {
  const text = await (await fetch(metricsUrl)).text();
  return Number(/^process_cpu_seconds_total (\S+)$/m.exec(text)?.[1]);
}
