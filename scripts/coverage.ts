/**
 * `node scripts/coverage.ts --check`: holds docs/coverage.md against the tests it names and the variables of the
 * specification, and is silent when all is well. Without the option it says how much is in it. Titles are looked up in
 * the test runner's own list (test-titles.ts); where no test has been run since the sources changed, in the text of the
 * test file. With `--titles` as well the list has to be there: for use after `npm test`.
 */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { specifiedMailKinds, specifiedProviders, specifiedVariables } from './specification.ts'
import { hashOfSources, readTitles, type Titles } from './test-titles.ts'

export interface Row {
  /** What the specification says. */
  what: string
  tests: { file: string; title: string }[]
}

/** What tells which titles a test file has. */
export interface Evidence {
  titles: Titles
  /** Whether the text of a file is good enough where the list has nothing of it. */
  textWillDo: boolean
}

const root = join(import.meta.dirname, '..')
const separator = ' › '

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
    const [file = '', ...title] = entry.split(separator)
    return { file, title: title.join(separator).replaceAll('\\|', '|') }
  })
}

/** One sentence for each entry that shows nothing, and for each variable without a row. */
export function problemsOf(
  rows: Row[],
  variables: readonly string[],
  evidence: Evidence,
): string[] {
  const covered = new Set(rows.flatMap(({ what }) => variablesIn(what)))
  const missing = variables.filter((name) => !covered.has(name))
  return [
    ...rows.flatMap(({ what, tests }) =>
      tests.flatMap((test) => objectionTo(test, evidence).map((why) => `${what}: ${why}`)),
    ),
    ...missing.map((name) => `${name} has no row`),
  ]
}

function objectionTo({ file, title }: Row['tests'][number], evidence: Evidence): string[] {
  if (!file.startsWith('test/') || !existsSync(join(root, file))) {
    return [`there is no test file ${file}`]
  }
  if (title === '') return [`no title is named in ${file}`]
  const titles = evidence.titles[file]
  if (titles) {
    const count = titles.filter((full) => endsIn(full, title)).length
    return count === 1 ? [] : [`${file} has ${count === 0 ? 'no' : `${count} of`} "${title}"`]
  }
  if (!evidence.textWillDo) return [`no run of the tests as they are has listed ${file}`]
  return title.split(separator).every(standsIn(file)) ? [] : [`${file} has no "${title}"`]
}

/** As much of the end of a full title is named as tells the test from the others of its file. */
function endsIn(full: string, title: string): boolean {
  return full === title || full.endsWith(`${separator}${title}`)
}

/**
 * Whether the words may be a title: they stand in the file, or in a table that lies in the folder of its name, or they
 * fit a template literal there. What a table makes of it, only a run can tell.
 */
function standsIn(file: string): (words: string) => boolean {
  const tables = globSync(`${file.replace(/\.test\.ts$/, '')}/*.ts`, { cwd: root })
  const text = [file, ...tables].map((path) => readFileSync(join(root, path), 'utf8')).join('\n')
  const templates = [...text.matchAll(/`([^`\n]*\$\{[^`\n]*)`/g)].map(([, inside = '']) => inside)
  const patterns = templates.filter((inside) => fixed(inside).trim() !== '').map(toPattern)
  return (words) => text.includes(words) || patterns.some((pattern) => pattern.test(words))
}

const hole = /\$\{[^}]*\}/

function fixed(template: string): string {
  return template.split(hole).join('')
}

function toPattern(template: string): RegExp {
  return new RegExp(`^${template.split(hole).map(RegExp.escape).join('.*')}$`)
}

/** The names between backticks; a placeholder stands for everything that the specification lets it be. */
function variablesIn(what: string): string[] {
  const names = [...what.matchAll(/`([A-Z][A-Z0-9_]*(?:<KIND>)?)`/g)].map(([, name = '']) => name)
  return names.flatMap((name) => {
    if (name.endsWith('<KIND>')) {
      return specifiedMailKinds.map((kind) => name.replace('<KIND>', kind))
    }
    if (!name.startsWith('AUTH_EXTERNAL_X_')) return [name]
    return specifiedProviders.map((provider) => name.replace('_X_', `_${provider.toUpperCase()}_`))
  })
}

function main(): void {
  const rows = rowsOf(readFileSync(join(root, 'docs/coverage.md'), 'utf8'))
  if (!process.argv.includes('--check')) {
    console.log(`${rows.length} rows, ${specifiedVariables.length} variables`)
    return
  }
  const textWillDo = !process.argv.includes('--titles')
  const evidence = { titles: readTitles(hashOfSources()), textWillDo }
  const problems = problemsOf(rows, specifiedVariables, evidence)
  for (const problem of problems) console.error(problem)
  if (problems.length > 0) process.exitCode = 1
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main()
