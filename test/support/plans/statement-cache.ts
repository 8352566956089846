/** The statements of the last run, which `npm run statements` commits. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

const file = join(import.meta.dirname, '../../../node_modules/.cache/statements.json')

const Run = Type.Object({
  /** Whether all tests ran: a statement that is missing is then no longer sent. */
  isComplete: Type.Boolean(),
  texts: Type.Array(Type.String()),
})

export function storeRun(run: typeof Run.static): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, JSON.stringify(run))
}

/** Throws an Error when no run is stored. */
export function loadRun(): typeof Run.static {
  return Value.Parse(Run, JSON.parse(readFileSync(file, 'utf8')))
}
