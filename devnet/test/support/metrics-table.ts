/** A metric's type and labels, as a table in a README lists them. */
export interface ListedMetric {
  readonly type: string;
  readonly labels: readonly string[];
}

/** Reads the table of metrics in a README: name, type, labels, meaning. */
export function metricsInTable(readme: string): ReadonlyMap<string, ListedMetric> {
  const rows = readme.matchAll(/^\| `([a-z_]+)` \| (histogram|counter|gauge) \|([^|]*)\|/gm);
  const names = (cell: string) => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name ?? "");
  return new Map(
    [...rows].map(([, name = "", type = "", labels = ""]) => [name, { type, labels: names(labels).toSorted() }]),
  );
}

/** What prom-client's registry and its metrics show of themselves. */
interface Registry {
  getMetricsAsArray(): readonly { readonly name: string; readonly type: unknown }[];
}

/** Reads what a service exports, besides the metrics of its process. */
export function metricsOf(registry: Registry): ReadonlyMap<string, ListedMetric> {
  const own = registry.getMetricsAsArray().filter(({ name }) => !/^(?:process|nodejs)_/.test(name));
  return new Map(
    own.map((metric) => {
      // The library does not declare it.
      const { labelNames } = metric as unknown as { readonly labelNames: readonly string[] };
      return [metric.name, { type: String(metric.type), labels: labelNames.toSorted() }];
    }),
  );
}
