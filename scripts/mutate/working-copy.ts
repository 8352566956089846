/** A copy of the repository in which one piece of source is changed at a time and the cited tests are run. */
import { spawn } from 'node:child_process'
import {
  cpSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'

import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import type { SourceMutation } from './mutation.ts'

const separator = ' › '
const root = join(import.meta.dirname, '../..')
const leftOut = ['node_modules', '.data', '.git']
const maxRunMs = 300_000

const product = {
  patterns: '**/*.ts',
  exclude: ['node_modules/**', 'test/**', 'bench/**', 'examples/**', 'scripts/**'],
}

const Line = Type.Object({ title: Type.String(), passed: Type.Boolean() })

/** Full titles of tests and suites. */
interface RunResult {
  failed: string[]
  passed: string[]
}

interface TestDatabase {
  adminUrl: string
  template: string
}

export interface WorkingCopy {
  /** Changes the source; the returned function reverts it. Throws unless the text is unique. */
  apply(mutation: SourceMutation): () => void
  /** Runs these tests of a file; the whole file when one of them is a subtest, which no pattern selects. */
  run(file: string, titles: readonly string[]): Promise<RunResult>
  remove(): void
}

/** The template database is migrated once: a mutation of a migration would have no effect. */
export function createWorkingCopy(database: TestDatabase): WorkingCopy {
  const folder = mkdtempSync(join(tmpdir(), 'postern-mutate-'))
  cpSync(root, folder, { recursive: true, filter: (path) => !leftOut.includes(basename(path)) })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))

  return {
    apply({ find, replace }) {
      const path = findFile(folder, find)
      const source = readFileSync(path, 'utf8')
      writeFileSync(
        path,
        source.replace(find, () => replace),
      )
      return () => writeFileSync(path, source)
    },
    async run(file, titles) {
      const patterns = titles.map((title) => `--test-name-pattern=${toPattern(title)}`)
      const result = await runTests({ folder, database, args: [...patterns, file] }, titles)
      const { failed, passed } = result
      const isNoticed = failed.some((full) => titles.some((title) => isWithin(full, title)))
      const isComplete = titles.every((title) => passed.some((full) => isWithin(full, title)))
      if (isNoticed || isComplete) return result
      return runTests({ folder, database, args: [file] }, titles)
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** The sources of the product, by path in the folder. */
export function readSources(folder: string): Map<string, string> {
  const files = globSync(product.patterns, { cwd: folder, exclude: product.exclude })
  return new Map(files.map((file) => [file, readFileSync(join(folder, file), 'utf8')]))
}

/** The file of the product with this piece of source. Throws unless it occurs once. */
export function findFile(folder: string, find: string, sources = readSources(folder)): string {
  const places = [...sources].filter(([, source]) => source.includes(find))
  const [[file, source] = []] = places
  if (file === undefined || source === undefined || places.length > 1) {
    const paths = places.map(([path]) => path)
    throw new Error(`${JSON.stringify(find)} occurs in ${places.length} files: ${paths.join()}`)
  }
  const count = source.split(find).length - 1
  if (count !== 1) throw new Error(`${JSON.stringify(find)} occurs in ${file} ${count} times`)
  return join(folder, file)
}

/** The runner joins the titles of suites and tests with a blank. */
function toPattern(title: string): string {
  return title.split(separator).map(RegExp.escape).join('\\x20')
}

/** Whether a test is the cited one, or part of the cited suite. */
export function isWithin(full: string, cited: string): boolean {
  return `${separator}${full}${separator}`.includes(`${separator}${cited}${separator}`)
}

interface Run {
  folder: string
  database: TestDatabase
  args: string[]
}

/** Stops at the first failure of a cited test: others may each wait for a timeout. */
async function runTests({ folder, database, args }: Run, titles: readonly string[]) {
  const reporter = join(folder, 'test/support/outcome-reporter.ts')
  const options = ['--test', '--test-isolation=none', '--test-force-exit', '--test-timeout=60000']
  const child = spawn(process.execPath, [...options, `--test-reporter=${reporter}`, ...args], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: maxRunMs,
    env: {
      LOG_LEVEL: 'error',
      NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compile'),
      ...process.env,
      TEST_ADMIN_URL: database.adminUrl,
      TEST_TEMPLATE: database.template,
    },
  })
  const result: RunResult = { failed: [], passed: [] }
  for await (const line of createInterface({ input: child.stdout })) {
    const outcome = readOutcome(line)
    if (!outcome) continue
    result[outcome.passed ? 'passed' : 'failed'].push(outcome.title)
    const isNoticed = !outcome.passed && titles.some((title) => isWithin(outcome.title, title))
    if (isNoticed) child.kill('SIGKILL')
  }
  return result
}

/** Tests may print other lines. */
function readOutcome(line: string) {
  if (!line.startsWith('{"title":')) return undefined
  const outcome: unknown = JSON.parse(line)
  return Value.Check(Line, outcome) ? outcome : undefined
}
