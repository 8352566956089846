/** Escaping of a value for its HTML context, so that it cannot leave that context. */
import type { Position } from './html-position.ts'

export type Escape = (text: string) => string

/** `encoded`: the value was encoded by `urlquery`. */
export function escapeFor(position: Exclude<Position, 'forbidden'>, encoded: boolean): Escape {
  return position === 'query' && encoded ? entities : escapes[position]
}

const escapes: Record<Exclude<Position, 'forbidden'>, Escape> = {
  text: entities,
  // As in Go: comments are not visible, and a value could end one.
  comment: () => '',
  attribute: entities,
  url: (text) => entities(linkStart(text)),
  'url-rest': (text) => entities(linkRest(text)),
  query: (text) => entities(encodeURIComponent(text.toWellFormed())),
  // Characters that could end an unquoted attribute become entities.
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

// App schemes are allowed in links, schemes that execute or embed content are not.
function linkStart(text: string): string {
  // Browsers ignore blanks and control characters in a scheme.
  const scheme = [...text].filter((char) => char > ' ').join('')
  return /^(?:javascript|vbscript|data|blob|file):/i.test(scheme) ? '#' : text
}

/** Must not form a scheme together with a preceding value. */
function linkRest(text: string): string {
  const path = text.search(/[/?#]/)
  const end = path === -1 ? text.length : path
  return text.slice(0, end).replaceAll(':', '%3A') + text.slice(end)
}
