/** The page after the current one: always a page of this server. */

const pages = /^\/(oauth\/consent|oauth\/device|sign-in\/password|console|account)(?=[/?]|$)/

/** Returns the page of this server that the text names. Empty for anything else: the site of the operator. */
export function readNext(text: unknown): string {
  const next = typeof text === 'string' ? text : ''
  const isPlain = /^\/[\w\-./~%?&=+:@]*$/.test(next) && !next.includes('//')
  return isPlain && pages.test(next) && !hasDotSegment(next) ? next : ''
}

/** Browsers resolve `..` and `%2e%2e`, which would lead to another page or out of the path of this server. */
function hasDotSegment(next: string): boolean {
  const [path] = next.split('?')
  return URL.parse(next, 'https://host')?.pathname !== path
}
