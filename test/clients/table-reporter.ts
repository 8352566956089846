/** A reporter of node:test: a table client × journey, followed by the failures. */
import type { TestEvent } from 'node:test/reporters'
import { inspect } from 'node:util'

import { journeys } from './journeys.ts'

type Cell = 'ok' | 'FAILED' | 'skipped'

export default async function* table(source: AsyncIterable<TestEvent>) {
  const columns = new Map<string, Map<string, Cell>>()
  const failures: string[] = []
  // Journeys precede their client, and clients of a file run one after another.
  const open = new Map<string, Map<string, Cell>>()
  for await (const { type, data } of source) {
    if (type === 'test:stderr') yield data.message
    if (type !== 'test:pass' && type !== 'test:fail') continue
    const file = data.file ?? ''
    const cells = open.get(file) ?? new Map<string, Cell>()
    open.set(file, cells)
    const cell = data.skip !== undefined ? 'skipped' : type === 'test:pass' ? 'ok' : 'FAILED'
    if (data.nesting > 0) cells.set(data.name, cell)
    else {
      columns.set(data.name, cell === 'skipped' ? new Map([['', 'skipped']]) : cells)
      open.delete(file)
    }
    if (type === 'test:fail') failures.push(describe(data.name, data.details.error))
  }
  yield `${render(columns)}\n${failures.join('\n')}\n`
  const all = [...columns.values()].flatMap((cells) => [...cells.values()])
  const count = (expected: Cell) => all.filter((cell) => cell === expected).length
  yield `${count('ok')} passed, ${count('FAILED')} failed, ${count('skipped')} skipped\n`
}

function render(columns: ReadonlyMap<string, ReadonlyMap<string, Cell>>): string {
  const names = [...columns.keys()].toSorted()
  const rows = journeys.map((journey) => [
    journey,
    ...names.map((name) => {
      const cells = columns.get(name)
      return cells?.get('') ?? cells?.get(journey) ?? '-'
    }),
  ])
  const all = [['', ...names], ...rows]
  const widths = all[0]?.map((_, index) => Math.max(...all.map((row) => row[index]?.length ?? 0)))
  return all
    .map((row) => row.map((cell, index) => cell.padEnd(widths?.[index] ?? 0)).join(' | '))
    .join('\n')
}

function describe(name: string, error: Error): string {
  const cause = error.cause instanceof Error ? error.cause : error
  return `\nFAILED ${name}\n${inspect(cause, { depth: 3 })}`
}
