/**
 * The test runner’s list of titles: test/run.ts adds those of each file whose tests passed, and scripts/coverage.ts
 * compares its page with them. The list is valid for the sources it was made from only.
 */
import { createHash } from 'node:crypto'
import { globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'

import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

/** Full titles (suite › test), by the path of the test file. */
export type Titles = Record<string, string[]>

const root = join(import.meta.dirname, '..')
const lists = join(root, 'node_modules/.cache/test-titles')

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
  const runs = readRuns().filter(({ sources }) => sources === sourcesNow)
  return Object.assign({}, ...runs.map(({ files }) => files))
}

/**
 * Adds the lines of test/support/runner/title-reporter.ts; a test file that ran again is replaced. Each run writes a
 * file of its own, because several run at the same time (.ci/run).
 */
export function addTitles(lines: string, sourcesNow: string): void {
  const files: Titles = {}
  for (const line of lines.split('\n').filter((line) => line !== '')) {
    const { file, title } = Value.Parse(Line, JSON.parse(line))
    const path = relative(root, file)
    files[path] = [...(files[path] ?? []), title]
  }
  for (const { path, sources } of readRuns()) {
    if (sources !== sourcesNow) rmSync(path, { force: true })
  }
  mkdirSync(lists, { recursive: true })
  const name = join(lists, `${Date.now()}-${process.pid}`)
  writeFileSync(`${name}.draft`, JSON.stringify({ sources: sourcesNow, files }))
  renameSync(`${name}.draft`, `${name}.json`)
}

/** The stored lists, in the order of the runs. */
function readRuns(): { path: string; sources: string; files: Titles }[] {
  const paths = globSync('*.json', { cwd: lists }).toSorted()
  return paths.flatMap((name) => {
    const path = join(lists, name)
    const stored = readIfThere(path)
    return Value.Check(List, stored) ? [{ path, ...stored }] : []
  })
}

/** Undefined when another run has just removed it. */
function readIfThere(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}
