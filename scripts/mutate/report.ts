/** docs/internals/mutations.md: the test that detected each mutation. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, type Mutation } from './mutation.ts'

interface Outcome {
  mutation: Mutation
  /** The cited test that failed, as in docs/coverage.md; undefined when none did. */
  noticedBy: string | undefined
}

const file = join(import.meta.dirname, '../../docs/internals/mutations.md')

/** Replaces the lines of these mutations and keeps others; a line without its mutation is dropped. */
export function writeReport(all: readonly Mutation[], outcomes: readonly Outcome[]): void {
  const known = readLines()
  for (const { mutation, noticedBy } of outcomes) {
    known.set(formatKey(mutation), `${formatKey(mutation)} ${cell(noticedBy ?? '**none**')} |`)
  }
  const lines = all.flatMap((mutation) => known.get(formatKey(mutation)) ?? [])
  const rows = new Set(all.filter((each) => known.has(formatKey(each))).map(({ row }) => row))
  const noticed = lines.filter((line) => !line.includes('**none**')).length
  writeFileSync(file, page(lines, `${noticed} of ${lines.length} changes, in ${rows.size} rows,`))
}

function readLines(): Map<string, string> {
  if (!existsSync(file)) return new Map()
  const lines = readFileSync(file, 'utf8').split('\n')
  const rows = lines.filter((line) => line.startsWith('| ') && !line.startsWith('| Row'))
  return new Map(
    rows.map((line) => [
      `${line
        .split(/(?<!\\) \| /)
        .slice(0, 2)
        .join(' | ')} |`,
      line,
    ]),
  )
}

function formatKey(mutation: Mutation): string {
  return `| ${cell(mutation.row)} | ${cell(describe(mutation))} |`
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|')
}

function page(lines: readonly string[], count: string): string {
  return `# Mutations

Written by \`npm run mutate\`: do not edit. Each line is one change of the product for one row of
[coverage.md](../coverage.md), and a test cited there that fails with the change and passes without it. For a variable,
tests that only read the configuration do not count. \`npm run mutate -- ROW\` tries the rows again that begin so; all of
them take half an hour on two idle cores.

${count} were noticed.

| Row | Change | Failing test |
|---|---|---|
${lines.join('\n')}
`
}
