/**
 * A mistake in the configuration. The message names the setting and the fix. It never repeats anything that looks like
 * a private key (64 hex digits), or the user, password, path and query of an HTTP URL, because keys and tokens get
 * pasted into the wrong places.
 */
export class ConfigError extends Error {
  override readonly name = "ConfigError";

  constructor(message: string) {
    super(
      message
        .replace(/\b(?:0x)?[0-9a-fA-F]{64}\b/g, "<64 hex digits>")
        // A URL taken for a path is normalized to http:/host.
        .replace(/(https?:\/{1,2})[^\s/"']*@/g, "$1")
        .replace(/(https?:\/{1,2}[^\s/?#"']+)[/?#][^\s"']+/g, "$1/..."),
    );
  }
}
