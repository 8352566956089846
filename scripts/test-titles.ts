/**
 * The test runner’s list of titles: test/run.ts adds those of each file whose tests passed, and scripts/coverage.ts
 * compares its page with them. The list is valid for the sources it was made from only.
 */
import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

/** Full titles (suite › test), by the path of the test file. */
export type Titles = Record<string, string[]>

const root = join(import.meta.dirname, '..')
const list = join(root, 'node_modules/.cache/test-titles.json')

const List = Type.Object({
  sources: Type.String(),
  files: Type.Record(Type.String(), Type.Array(Type.String())),
})
const Line = Type.Object({ file: Type.String(), title: Type.String() })

/** Without what tests build, and without the page that cites the tests: editing it needs no new run. */
const sources = {
  patterns: '**/*.{ts,js,css,html,sql,proto,md,json,yml,cfg,ini}',
  exclude: ['node_modules/**', '.data/**', '{docs/,console/,}dist/**', 'docs/coverage.md'],
}

/** SHA-256 of all files that tests are made of or read. */
export function hashOfSources(): string {
  const hash = createHash('sha256')
  const paths = globSync(sources.patterns, { cwd: root, exclude: sources.exclude })
  for (const path of paths.toSorted()) {
    const text = readFileSync(join(root, path))
    hash.update(`${path}\0${text.length}\0`).update(text)
  }
  return hash.digest('hex')
}

/** The list for the current sources; empty when no test has run since they changed. */
export function readTitles(sourcesNow: string): Titles {
  if (!existsSync(list)) return {}
  const stored: unknown = JSON.parse(readFileSync(list, 'utf8'))
  return Value.Check(List, stored) && stored.sources === sourcesNow ? stored.files : {}
}

/** Adds the lines of test/support/runner/title-reporter.ts; a file that ran again is replaced. */
export function addTitles(lines: string, sourcesNow: string): void {
  const added: Titles = {}
  for (const line of lines.split('\n').filter((line) => line !== '')) {
    const { file, title } = Value.Parse(Line, JSON.parse(line))
    const path = relative(root, file)
    added[path] = [...(added[path] ?? []), title]
  }
  const files = { ...readTitles(sourcesNow), ...added }
  mkdirSync(dirname(list), { recursive: true })
  const draft = `${list}.${process.pid}`
  writeFileSync(draft, JSON.stringify({ sources: sourcesNow, files }))
  renameSync(draft, list)
}
