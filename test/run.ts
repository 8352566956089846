/**
 * `npm test`: a throwaway Postgres (or TEST_DATABASE_URL), one migrated template database, then node --test. Arguments
 * are test files or folders and options of node --test; without files, all tests run that need npm only and take little
 * time.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'

import { addTitles, hashOfSources } from '../scripts/test-titles.ts'
import { endWithUs } from './support/processes/stop-with-parent.ts'
import { startThrowawayPostgres } from './support/processes/throwaway-postgres.ts'
import { makeShards } from './support/runner/shards.ts'
import { createTemplate } from './support/template-database.ts'

/** At a time. They often wait: for Postgres, for processes they started, for time to pass. Two per core left a sixth idle. */
const processes = 3 * availableParallelism()
const template = `postern_template_${process.pid}`

/**
 * `npm run test:browser` needs a browser, `npm run test:services` and `test:cluster` other servers, and `test:clients`
 * other languages. `test:processes` starts many processes, `test:races` repeats each pair of requests, and
 * `test:rows` repeats each request for each column.
 */
const apart = ['browser', 'clients', 'cluster', 'processes', 'races', 'rows', 'services'].map(
  (name) => join('test', name),
)
/** Run last: the tests of plans look at the statements that the others have sent. */
const last = join('test', 'plans')

/** Of an option that selects no tests. */
const selectsAll = /^--test-(timeout|reporter)=/

/** The one of cli.ts. */
const compileCache = join(import.meta.dirname, '../node_modules/.cache/compile')

let running: ChildProcess | undefined
let interrupted = false
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    // The second one applies: a test that does not end is aborted.
    running?.kill(interrupted ? 'SIGKILL' : signal)
    interrupted = true
  })
}

process.exitCode = await main(process.argv.slice(2))

async function main(args: string[]): Promise<number> {
  const missing = args.find((arg) => !arg.startsWith('-') && !existsSync(arg))
  if (missing !== undefined) throw new Error(`There is no ${missing}.`)
  const given = process.env.TEST_DATABASE_URL
  const [postgres] = await Promise.all([
    given === undefined ? startThrowawayPostgres() : undefined,
    fillCompileCache(),
  ])
  const adminUrl = postgres?.url ?? String(given)
  let dropTemplate: (() => Promise<void>) | undefined
  try {
    dropTemplate = await createTemplate(adminUrl, template)
    return interrupted ? 1 : await runTests(args, adminUrl)
  } finally {
    if (postgres === undefined) await dropTemplate?.()
    else await postgres.stop()
  }
}

/**
 * Once: a process stores what it has compiled when it exits, so that in a new checkout all processes that start at the
 * same time would compile the server, for a second each.
 */
async function fillCompileCache(): Promise<void> {
  if (existsSync(compileCache)) return
  const cli = join(import.meta.dirname, '../cli.ts')
  await once(spawn(process.execPath, [cli, 'serve', '--help'], { stdio: 'ignore' }), 'close')
}

async function runTests(args: string[], adminUrl: string): Promise<number> {
  const files = args.filter((arg) => !arg.startsWith('-')).flatMap(testFiles)
  const options = args.filter((arg) => arg.startsWith('-'))
  const statements = mkdtempSync(join(tmpdir(), 'postern-statements-'))
  process.env.TEST_STATEMENTS ??= statements
  try {
    return await runInOrder(files, options, adminUrl)
  } finally {
    rmSync(statements, { recursive: true, force: true })
  }
}

async function runInOrder(files: string[], options: string[], adminUrl: string): Promise<number> {
  if (files.length === 0) {
    const code = await runShards(options, adminUrl)
    process.env.TEST_IS_COMPLETE = String(options.every((option) => selectsAll.test(option)))
    return code === 0 && !interrupted ? listed(testFiles(last), options, adminUrl, true) : code
  }
  const [late = [], early = []] = [true, false].map((isLast) =>
    files.filter((file) => file.startsWith(last) === isLast),
  )
  const code = early.length > 0 ? await listed(early, options, adminUrl) : 0
  return code === 0 && late.length > 0 && !interrupted ? listed(late, options, adminUrl) : code
}

async function runShards(options: string[], adminUrl: string): Promise<number> {
  const shards = makeShards(testFiles('test').filter(isOfEveryRun), processes)
  try {
    return await listed(shards.files, options, adminUrl)
  } finally {
    shards.remove()
  }
}

/**
 * Runs them. When all pass and no source changed during it, their titles are stored. A quiet run prints failures only,
 * so that the summary of the run before stays the last one.
 */
async function listed(
  files: string[],
  options: string[],
  adminUrl: string,
  isQuiet = false,
): Promise<number> {
  if (!options.every((option) => selectsAll.test(option))) {
    return nodeTest(files, options, adminUrl)
  }
  const titles = join(tmpdir(), `postern-titles-${process.pid}`)
  const output = `${titles}-output`
  const sources = hashOfSources()
  const isReporter = (option: string) => option.startsWith('--test-reporter=')
  const reporters = [
    options.find(isReporter) ?? '--test-reporter=spec',
    `--test-reporter-destination=${isQuiet ? output : 'stdout'}`,
    `--test-reporter=${join(import.meta.dirname, 'support/runner/title-reporter.ts')}`,
    `--test-reporter-destination=${titles}`,
  ]
  try {
    const others = options.filter((option) => !isReporter(option))
    const code = await nodeTest(files, [...reporters, ...others], adminUrl)
    if (isQuiet && code !== 0) process.stdout.write(readFileSync(output))
    if (code === 0 && hashOfSources() === sources) addTitles(readFileSync(titles, 'utf8'), sources)
    return code
  } finally {
    rmSync(titles, { force: true })
    rmSync(output, { force: true })
  }
}

function nodeTest(files: string[], options: string[], adminUrl: string): Promise<number> {
  running = spawn(
    process.execPath,
    [
      '--test',
      '--disable-warning=ExperimentalWarning',
      // Servers of tests create many short-lived objects: a small young generation would cost a tenth of the time. One
      // that first has to grow costs a sixth of the processor time of building a server. More than this gains little.
      '--max-semi-space-size=32',
      '--min-semi-space-size=32',
      // Five of six pairs of runs of eleven files took 4 to 9 % less processor time with it.
      '--single-threaded-gc',
      `--import=${join(import.meta.dirname, 'support/runner/track-tests.ts')}`,
      `--test-concurrency=${processes}`,
      '--test-timeout=120000',
      ...(options.some((option) => option.startsWith('--test-reporter'))
        ? []
        : ['--test-reporter=spec']),
      ...options,
      ...files,
    ],
    {
      stdio: 'inherit',
      env: {
        LOG_LEVEL: 'error',
        // Each shard is a process, and some tests start more: types are stripped once for all of them.
        NODE_COMPILE_CACHE: compileCache,
        ...process.env,
        TEST_ADMIN_URL: adminUrl,
        TEST_TEMPLATE: template,
      },
    },
  )
  endWithUs(running)
  return new Promise((resolve, reject) => {
    running?.on('error', reject)
    running?.on('close', (code) => resolve(code ?? 1))
  })
}

function isOfEveryRun(file: string): boolean {
  return ![...apart, last].some((folder) => file.startsWith(folder))
}

function testFiles(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path]
  const found = globSync(join(path, '**/*.{test,services,clients}.ts')).sort()
  if (found.length === 0) throw new Error(`There is no test in ${path}.`)
  return found
}
