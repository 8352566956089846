/** How a value is written at each place of the HTML, so that it stays inside that place. */
import type { Position } from './html-position.ts'

export type Escape = (text: string) => string

/** `encoded`: the value has gone through `urlquery` already. */
export function escapeFor(position: Exclude<Position, 'forbidden'>, encoded: boolean): Escape {
  return position === 'query' && encoded ? entities : escapes[position]
}

const escapes: Record<Exclude<Position, 'forbidden'>, Escape> = {
  text: entities,
  // As in Go: nobody reads it, and nothing can end the comment.
  comment: () => '',
  attribute: entities,
  url: (text) => entities(linkStart(text)),
  'url-rest': (text) => entities(linkRest(text)),
  query: (text) => entities(encodeURIComponent(text.toWellFormed())),
  // Whatever could end an attribute without quotes becomes an entity.
  unquoted: (text) => linkStart(text).replace(/[&<>"'`=\s]/g, entity),
}

function entities(text: string): string {
  return text.replace(/[&<>"']/g, entity)
}

const named = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
])

function entity(char: string): string {
  return named.get(char) ?? `&#${char.charCodeAt(0)};`
}

// Schemes of apps are welcome in links; those that run or inline something are not.
function linkStart(text: string): string {
  // Browsers skip blanks and control characters when they read a scheme.
  const scheme = [...text].filter((char) => char > ' ').join('')
  return /^(?:javascript|vbscript|data|blob|file):/i.test(scheme) ? '#' : text
}

/** Together with a value before it this must not make a scheme. */
function linkRest(text: string): string {
  const path = text.search(/[/?#]/)
  const end = path === -1 ? text.length : path
  return text.slice(0, end).replaceAll(':', '%3A') + text.slice(end)
}
