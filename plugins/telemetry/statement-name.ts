/** What a statement is called in metrics and traces: what it does first, and to which table. */
import { LRUCache } from 'lru-cache'

export interface StatementName {
  /** As in `update sessions`. */
  name: string
  /** As in `UPDATE`. */
  operation: string
}

/** As many as are prepared on a connection. */
const names = new LRUCache<string, StatementName>({ max: 500 })

export function statementName(sql: string): StatementName {
  const known = names.get(sql)
  if (known) return known
  const made = read(sql)
  names.set(sql, made)
  return made
}

/** Tables are of our own schemas; whatever else there is has no name of its own, so that series stay few. */
function read(sql: string): StatementName {
  const operation = /^\W*(\w+)/.exec(sql)?.[1]?.toUpperCase() ?? 'SQL'
  const [, verb, table] = /\b(insert into|update|delete from|from) "\w+"\."(\w+)"/.exec(sql) ?? []
  if (!verb || !table) return { name: operation.toLowerCase(), operation }
  const action = verb === 'from' ? 'select' : verb.split(' ')[0]
  return { name: `${action} ${table}`, operation }
}
