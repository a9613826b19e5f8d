/** A base URL as the configuration and the directory may have it. */
export const BASE_URL_PATTERN = "^https?://[^\\s@?#]+$";

const LOCAL_URL = /^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?(?:\/|$)/;

/** Tells whether a URL is on this machine, as providers of development networks may announce it. */
export const isLocalUrl = (url: string): boolean => LOCAL_URL.test(url);

/** Removes the slashes at the end of a base URL, so that a path can follow. */
export const withoutFinalSlashes = (url: string): string => url.replace(/\/+$/, "");
