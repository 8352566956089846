/** The name of a statement in metrics: its operation and table, as in `update sessions`. */
import { LRUCache } from 'lru-cache'

/** As many as a connection prepares. */
const names = new LRUCache<string, string>({ max: 500 })

export function statementName(sql: string): string {
  const known = names.get(sql)
  if (known) return known
  const name = readName(sql)
  names.set(sql, name)
  return name
}

/** Only tables of our own schemas are named, so that the number of series is bounded. */
function readName(sql: string): string {
  const [, verb, table] = /\b(insert into|update|delete from|from) "\w+"\."(\w+)"/.exec(sql) ?? []
  if (verb && table) return `${verb === 'from' ? 'select' : verb.split(' ')[0]} ${table}`
  return /^\W*(\w+)/.exec(sql)?.[1]?.toLowerCase() ?? 'sql'
}
