import { ConfigError } from "./config.js";

/**
 * The URL that a setting stands for: `$` and a name in braces stand for that variable of the environment.
 *
 * @param setting What errors call it.
 * @throws ConfigError that does not hold the URL: there may be a token in it.
 */
export function expandRpcUrl(template: string, setting: string, env: NodeJS.ProcessEnv): string {
  const url = template.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => {
    const value = env[name];
    if (!value) throw new ConfigError(`${setting} names \${${name}}, and the environment has no ${name}. Set it.`);
    return value;
  });
  // The URL itself stays out of the message: it may hold a token.
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw new ConfigError(`${setting} is not a URL that starts with http:// or https://.`);
  }
  // fetch refuses such a URL, and repeats it in its error.
  const { username, password } = new URL(url);
  if (username || password) throw new ConfigError(`${setting} holds a user name. Use a token in its path.`);
  return url;
}
