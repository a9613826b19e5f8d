/** Encodes everything except the unreserved characters of RFC 3986. */
export function percentEncode(text: string): string {
  // `encodeURIComponent` leaves these unencoded, although they are reserved.
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
