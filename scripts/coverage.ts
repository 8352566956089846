/**
 * `node scripts/coverage.ts --check`: holds docs/coverage.md against the tests it names and the variables
 * of the specification. Without the option it says how much is in it.
 */
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { specifiedMailKinds, specifiedProviders, specifiedVariables } from './specification.ts'

export interface Row {
  /** What the specification says. */
  what: string
  tests: { file: string; title: string }[]
}

const root = new URL('../', import.meta.url)

/** The rows of every table of the page. */
export function rowsOf(page: string): Row[] {
  const lines = page.split('\n').filter((line) => line.startsWith('| '))
  return lines
    .map((line) => line.slice(2, -2).split(/(?<!\\) \| /))
    .filter(([what]) => what !== 'The specification')
    .map(([what = '', cell = '']) => ({ what, tests: testsOf(cell) }))
}

function testsOf(cell: string): Row['tests'] {
  return cell.split('<br>').map((entry) => {
    const [file = '', ...title] = entry.split(' › ')
    return { file, title: title.join(' › ').replaceAll('\\|', '|') }
  })
}

/** One sentence for each entry that shows nothing, and for each variable without a row. */
export function problemsOf(rows: Row[], variables: readonly string[]): string[] {
  const covered = new Set(rows.flatMap(({ what }) => variablesIn(what)))
  const missing = variables.filter((name) => !covered.has(name))
  return [
    ...rows.flatMap(({ what, tests }) =>
      tests.flatMap((test) => objectionTo(test).map((why) => `${what}: ${why}`)),
    ),
    ...missing.map((name) => `${name} has no row`),
  ]
}

function objectionTo({ file, title }: Row['tests'][number]): string[] {
  const path = new URL(file, root)
  if (!file.startsWith('test/') || !existsSync(path)) return [`there is no test file ${file}`]
  if (title === '') return [`no title is named in ${file}`]
  return readFileSync(path, 'utf8').includes(title) ? [] : [`${file} has no "${title}"`]
}

/** The names between backticks; a placeholder stands for everything that the specification lets it be. */
function variablesIn(what: string): string[] {
  const names = [...what.matchAll(/`([A-Z][A-Z0-9_]*(?:<KIND>)?)`/g)].map(([, name = '']) => name)
  return names.flatMap((name) => {
    if (name.endsWith('<KIND>'))
      return specifiedMailKinds.map((kind) => name.replace('<KIND>', kind))
    if (!name.startsWith('AUTH_EXTERNAL_X_')) return [name]
    return specifiedProviders.map((provider) => name.replace('_X_', `_${provider.toUpperCase()}_`))
  })
}

function main(): void {
  const rows = rowsOf(readFileSync(new URL('docs/coverage.md', root), 'utf8'))
  console.log(`${rows.length} rows, ${specifiedVariables.length} variables`)
  if (!process.argv.includes('--check')) return
  const problems = problemsOf(rows, specifiedVariables)
  for (const problem of problems) console.error(problem)
  if (problems.length > 0) process.exitCode = 1
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main()
