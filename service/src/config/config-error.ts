/**
 * Ends a program, with a message for its owner and no stack. The message never repeats anything that looks like a
 * private key (64 hex digits), or the user, password, path and query of an HTTP URL, because keys and tokens get pasted
 * into the wrong places.
 */
export class ExitError extends Error {
  override readonly name: string = "ExitError";

  /** @param exitCode Tells a supervisor whether to start the program again. */
  constructor(
    message: string,
    readonly exitCode: number,
  ) {
    super(
      message
        .replace(/\b(?:0x)?[0-9a-fA-F]{64}\b/g, "<64 hex digits>")
        // A URL taken for a path is normalized to http:/host.
        .replace(/(https?:\/{1,2})[^\s/"']*@/g, "$1")
        .replace(/(https?:\/{1,2}[^\s/?#"']+)[/?#][^\s"']+/g, "$1/..."),
    );
  }
}

/**
 * A mistake in what the owner wrote. The message names the setting and the fix. Exit code 2: a restart cannot repair it,
 * so a supervisor does not try.
 */
export class ConfigError extends ExitError {
  override readonly name = "ConfigError";

  constructor(message: string) {
    super(message, 2);
  }
}

/**
 * What keeps a program from starting now, but can pass by itself, such as a full disk or a busy port. Exit code 1: a
 * supervisor starts the program again.
 */
export class TransientError extends ExitError {
  override readonly name = "TransientError";

  constructor(message: string) {
    super(message, 1);
  }
}

/** The error codes of a path that does not lead to what its setting promises, whenever it is tried. */
const WRONG_PATH = ["EISDIR", "ELOOP", "ENAMETOOLONG", "ENOTDIR"];
/** Those of a path to read from: what is missing or closed there was not put there, or not opened, by the owner. */
const UNREADABLE_PATH = [...WRONG_PATH, "EACCES", "ENOENT", "EPERM"];

/** Makes the error for a file that cannot be read: a wrong path or mode is the owner's mistake, all else can pass. */
export const unreadable = (message: string, error: unknown): ExitError => fileError(UNREADABLE_PATH, message, error);

/**
 * Makes the error for a folder that cannot be written: a path that can never be a folder is the owner's mistake, all
 * else can pass, also a missing one, because a disk may be mounted later.
 */
export const unwritable = (message: string, error: unknown): ExitError => fileError(WRONG_PATH, message, error);

function fileError(mistakes: readonly string[], message: string, error: unknown): ExitError {
  const code = (error as NodeJS.ErrnoException).code ?? "";
  return mistakes.includes(code) ? new ConfigError(message) : new TransientError(message);
}
