/** Reports whether a caller asks for an event stream. */
export const acceptsEventStream = (header: string | undefined) => accepts(header, "text/event-stream");

/** Reports whether a caller asks for CSV. */
export const acceptsCsv = (header: string | undefined) => accepts(header, "text/csv");

/** Reports whether an `Accept` header names a media type itself, with any weight: a wildcard does not. */
function accepts(header: string | undefined, type: string): boolean {
  const ranges = header?.split(",") ?? [];
  return ranges.some((range) => range.split(";")[0]?.trim().toLowerCase() === type);
}
