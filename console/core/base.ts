/** The external path of the server, without a trailing slash. */
export const base = document.documentElement.dataset.base ?? ''

/** The path of a page of the console, for links. */
export const pageUrl = (path: string): string => `${base}/console${path === '/' ? '' : path}`
