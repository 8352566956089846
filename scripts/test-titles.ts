/**
 * The test runner's own list of titles: test/run.ts adds those of every file whose tests passed, and
 * scripts/coverage.ts holds its page against them. The list is good for the sources it was made of, and no others.
 */
import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

/** Full titles (suite › test) of suites and tests, by the test file's path from the root. */
export type Titles = Record<string, string[]>

const root = join(import.meta.dirname, '..')
const list = join(root, 'node_modules/.cache/test-titles.json')

const List = Type.Object({
  sources: Type.String(),
  files: Type.Record(Type.String(), Type.Array(Type.String())),
})
const Line = Type.Object({ file: Type.String(), title: Type.String() })

/** Without the page that names the tests: mending it needs no new run. */
const sources = {
  patterns: '**/*.{ts,js,css,html,sql,proto,md,json,yml,cfg,ini}',
  exclude: ['node_modules/**', '.data/**', 'docs/coverage.md'],
}

/** SHA-256 over everything that tests are made of or read. */
export function hashOfSources(): string {
  const hash = createHash('sha256')
  const paths = globSync(sources.patterns, { cwd: root, exclude: sources.exclude })
  for (const path of paths.toSorted()) {
    const text = readFileSync(join(root, path))
    hash.update(`${path}\0${text.length}\0`).update(text)
  }
  return hash.digest('hex')
}

/** What was listed of the sources as they are now; nothing where no test has been run since they changed. */
export function readTitles(sourcesNow: string): Titles {
  if (!existsSync(list)) return {}
  const stored: unknown = JSON.parse(readFileSync(list, 'utf8'))
  return Value.Check(List, stored) && stored.sources === sourcesNow ? stored.files : {}
}

/** Adds the lines of test/support/title-reporter.ts; a file that was run again is listed anew. */
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
