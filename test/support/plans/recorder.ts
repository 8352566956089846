/** Records what requests of all tests send to Postgres, for test/plans (test/run.ts sets the folder). */
import { appendFileSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type pg from 'pg'
import utils from 'pg/lib/utils.js'

import { requestDeadline } from '../../../plugins/observability/request-context/index.ts'

const Recorded = Type.Object({
  text: Type.String(),
  /** The values of its first run, as Postgres reads them. */
  values: Type.Array(Type.Union([Type.String(), Type.Null()])),
})
export type RecordedStatement = typeof Recorded.static

const explain = /^explain \(.*?\) /
const isPlanned = /^(explain|select|insert|update|delete|with|merge)\b/
const folder = process.env.TEST_STATEMENTS
const known = new Set<string>()

/** Records each statement of the pool's connections once a process. A connection's first run of a statement has values. */
export function recordStatements(pool: pg.Pool): void {
  if (folder === undefined) return
  const file = join(folder, `${process.pid}.jsonl`)
  pool.on('connect', (client) => {
    client.query = new Proxy(client.query, {
      apply(query, self, args) {
        const found = requestDeadline() ? statementIn(args) : undefined
        if (found && !known.has(found.text)) {
          known.add(found.text)
          appendFileSync(file, `${JSON.stringify(found)}\n`)
        }
        return Reflect.apply(query, self, args)
      },
    })
  })
}

/** Undefined for a pipeline, whose statements the connection has run before, and for commands. */
function statementIn([query, values]: unknown[]): RecordedStatement | undefined {
  const { text, texts, values: own } = Object(query)
  if (texts !== undefined) return undefined
  const given = own ?? values
  const statement = typeof query === 'string' ? query : text
  if (typeof statement !== 'string' || !isPlanned.test(statement)) return undefined
  return {
    text: statement.replace(explain, ''),
    values: Array.isArray(given) ? given.map(asText) : [],
  }
}

function asText(value: unknown): string | null {
  const prepared = utils.prepareValue(value)
  return Buffer.isBuffer(prepared) ? `\\x${prepared.toString('hex')}` : prepared
}

/** Every recorded statement once, ordered by text. */
export function recordedStatements(): RecordedStatement[] {
  const statements = new Map<string, RecordedStatement>()
  for (const file of folder === undefined ? [] : globSync(join(folder, '*.jsonl'))) {
    for (const line of readFileSync(file, 'utf8').split('\n').filter(Boolean)) {
      const statement = Value.Parse(Recorded, JSON.parse(line))
      const known = statements.get(statement.text)
      // Processes differ in which values they send first.
      if (!known || line < JSON.stringify(known)) statements.set(statement.text, statement)
    }
  }
  return [...statements.values()].toSorted((a, b) => a.text.localeCompare(b.text))
}
