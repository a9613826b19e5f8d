import { ConfigError } from "./config.js";

/**
 * The URL that a setting stands for: `$` and a name in braces stand for that variable of the environment.
 *
 * @throws ConfigError that does not hold the URL: there may be a token in it.
 */
export function expandRpcUrl(template: string, where: string, env: NodeJS.ProcessEnv): string {
  const url = template.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => {
    const value = env[name];
    if (!value)
      throw new ConfigError(`${where}: rpcUrl names \${${name}}, and the environment has no ${name}. Set it.`);
    return value;
  });
  // The URL itself stays out of the message: it may hold a token.
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw new ConfigError(`${where}: rpcUrl is not a URL that starts with http:// or https://.`);
  }
  // fetch refuses such a URL, and repeats it in its error.
  const { username, password } = new URL(url);
  if (username || password) throw new ConfigError(`${where}: rpcUrl holds a user name. Use a token in its path.`);
  return url;
}
