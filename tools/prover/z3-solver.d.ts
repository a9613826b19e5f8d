/** What is used of z3-solver, which only `npm run prove` installs. */
declare module "z3-solver" {
  interface Z3 {
    mk_config(): unknown;
    mk_context(config: unknown): unknown;
    del_context(context: unknown): void;
    /** Answers queries in SMT-LIB. */
    eval_smtlib2_string(context: unknown, query: string): Promise<string>;
  }
  export function init(): Promise<{ readonly Z3: Z3 }>;
}
