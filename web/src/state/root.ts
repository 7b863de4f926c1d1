/** The path that the server has the page under: `/`, or the prefix of a proxy. */

/** The module that this page was loaded with is one folder below the root; the path of the page may be any depth. */
export const ROOT = new URL('..', document.querySelector<HTMLScriptElement>('script[type=module]')?.src)
  .pathname;
