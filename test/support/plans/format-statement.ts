/** Statements as a review reads them: a clause a line, and the same text for lists of any length. */

const clauses = [
  ...['with', 'select', 'insert', 'update', 'delete', 'from', 'using', 'set', 'values', 'where'],
  ...['inner join', 'left join', 'cross join', 'group by', 'order by', 'limit', 'offset', 'for'],
  ...['on conflict', 'returning', 'union', 'case', 'when', 'else'],
]
const clause = new RegExp(`^(?:${clauses.join('|')})\\b`)

/** `delete from`, `for update`, `do update`, `is distinct from` and the like are one clause. */
const inside = /\b(?:delete|do|distinct|epoch|for|key) $/

/** Strings, words and single characters. */
const tokens = /'(?:[^']|'')*'|\w+|\s+|[^\w\s']/g

export function formatStatement(text: string): string {
  const short = shorten(text)
  let depth = 0
  let formatted = ''
  for (const { 0: token, index } of short.matchAll(tokens)) {
    if (token === '(') depth += 1
    if (token === ')') depth -= 1
    const begins = index > 0 && /[\s(]/.test(short.charAt(index - 1))
    if (begins && clause.test(short.slice(index)) && !inside.test(formatted)) {
      formatted = `${formatted.trimEnd()}\n${'  '.repeat(depth)}`
    }
    formatted += token
  }
  return formatted
}

/** Without the schema, quotes that names do not need, and the numbers of parameters. */
function shorten(text: string): string {
  return text
    .replaceAll('"auth".', '')
    .replaceAll(/"([a-z_][a-z0-9_]*)"/g, '$1')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\$\d+/g, '?')
    .replaceAll(/\?(?:::\w+(?:\[\])?)?(?:, \?(?:::\w+(?:\[\])?)?)+/g, '?...')
    .replaceAll(/\(\?(?:\.\.\.)?\)(?:, \(\?(?:\.\.\.)?\))+/g, '(?...), ...')
    .trim()
}
