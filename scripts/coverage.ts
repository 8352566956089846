/**
 * `node scripts/coverage.ts --check`: verifies that the tests cited by docs/coverage.md exist and that each specified
 * variable has a row; prints nothing on success. Without the option it prints the size. Titles are looked up in the
 * test runner’s list (test-titles.ts), or in the test file when no test has run since the sources changed. With
 * `--titles` the list is required: for use after `npm test`.
 */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import {
  specificationFile,
  specifiedMailKinds,
  specifiedProviders,
  specifiedVariables,
} from './specification.ts'
import { hashOfSources, readTitles, type Titles } from './test-titles.ts'

export interface Row {
  /** The statement of the specification. */
  what: string
  tests: { file: string; title: string }[]
}

/** The known titles of test files. */
export interface CoverageClaim {
  titles: Titles
  /** Whether to search the text of files that the list does not contain. */
  textWillDo: boolean
}

const root = join(import.meta.dirname, '..')
const separator = ' › '

/** The rows of every table of the page. */
export function parseRows(page: string): Row[] {
  const lines = page.split('\n').filter((line) => line.startsWith('| '))
  return lines
    .map((line) => line.slice(2, -2).split(/(?<!\\) \| /))
    .filter(([what]) => what !== 'The specification')
    .map(([what = '', cell = '']) => ({ what, tests: parseTests(cell) }))
}

function parseTests(cell: string): Row['tests'] {
  return cell.split('<br>').map((entry) => {
    const [file = '', ...title] = entry.split(separator)
    return { file, title: title.join(separator).replaceAll('\\|', '|') }
  })
}

/** One sentence for each invalid citation and each variable without a row. */
export function findProblems(
  rows: Row[],
  variables: readonly string[],
  evidence: CoverageClaim,
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

function objectionTo({ file, title }: Row['tests'][number], evidence: CoverageClaim): string[] {
  if (!file.startsWith('test/') || !existsSync(join(root, file))) {
    return [`there is no test file ${file}`]
  }
  if (title === '') return [`no title is named in ${file}`]
  const titles = evidence.titles[file]
  if (titles) {
    const count = titles.filter((full) => endsIn(full, title)).length
    return count === 1 ? [] : [`${file} has ${count === 0 ? 'no' : `${count} of`} "${title}"`]
  }
  if (!evidence.textWillDo) return [`no test run on the current sources has listed ${file}`]
  return title.split(separator).every(appearsIn(file)) ? [] : [`${file} has no "${title}"`]
}

/** A citation is the end of a full title, as long as needed to be unique in its file. */
function endsIn(full: string, title: string): boolean {
  return full === title || full.endsWith(`${separator}${title}`)
}

/**
 * Whether the text can be a title: it occurs in the file, in a table in the folder of the same name, or in the
 * specification’s tables if the file reads them; or it matches a template literal. The final title is known only after
 * a run.
 */
function appearsIn(file: string): (words: string) => boolean {
  const tables = globSync(`${file.replace(/\.test\.ts$/, '')}/*.ts`, { cwd: root })
  const own = [file, ...tables].map((path) => readFileSync(join(root, path), 'utf8')).join('\n')
  const readsTables = own.includes('/scripts/specification.ts')
  const text = readsTables ? own + readFileSync(specificationFile, 'utf8') : own
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

/** Names in backticks; a placeholder stands for each value that the specification allows. */
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
  const rows = parseRows(readFileSync(join(root, 'docs/coverage.md'), 'utf8'))
  if (!process.argv.includes('--check')) {
    console.log(`${rows.length} rows, ${specifiedVariables.length} variables`)
    return
  }
  const textWillDo = !process.argv.includes('--titles')
  const evidence = { titles: readTitles(hashOfSources()), textWillDo }
  const problems = findProblems(rows, specifiedVariables, evidence)
  for (const problem of problems) console.error(problem)
  if (problems.length > 0) process.exitCode = 1
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main()
