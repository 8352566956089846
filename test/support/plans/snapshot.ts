/** The committed statements (test/plans/statements): one file for each table that a statement names first. */
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'

import { formatStatement } from './format-statement.ts'

const folder = join(import.meta.dirname, '../../plans/statements')

/** Formatted statements by the name of their file. */
export type Snapshot = Map<string, Set<string>>

export function makeSnapshot(texts: string[]): Snapshot {
  const snapshot: Snapshot = new Map()
  for (const text of texts) {
    const name = /"auth"\."(\w+)"/.exec(text)?.[1] ?? 'without-table'
    snapshot.set(name, (snapshot.get(name) ?? new Set()).add(formatStatement(text)))
  }
  return snapshot
}

export function readSnapshot(): Snapshot {
  return new Map(
    globSync(join(folder, '*.sql')).map((file) => [
      basename(file, '.sql'),
      new Set(readFileSync(file, 'utf8').trim().split('\n\n')),
    ]),
  )
}

export function writeSnapshot(snapshot: Snapshot): void {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const [name, statements] of snapshot) {
    writeFileSync(join(folder, `${name}.sql`), `${[...statements].sort().join('\n\n')}\n`)
  }
}

/** The statements of `snapshot` that `other` lacks. */
export function findMissing(snapshot: Snapshot, other: Snapshot): string[] {
  return [...snapshot].flatMap(([name, statements]) =>
    [...statements].filter((statement) => !other.get(name)?.has(statement)),
  )
}

export function joinSnapshots(one: Snapshot, other: Snapshot): Snapshot {
  const names = new Set([...one.keys(), ...other.keys()])
  return new Map(
    [...names].map((name) => [
      name,
      new Set([...(one.get(name) ?? []), ...(other.get(name) ?? [])]),
    ]),
  )
}
