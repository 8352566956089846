/**
 * `npm run mutate`: changes the product in one place at a time, for one row of docs/coverage.md each, and runs the
 * tests that the row cites. One of them has to fail, and to pass without the change. Writes
 * docs/internals/mutations.md. Arguments limit the run to rows that begin with them.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { startThrowawayPostgres } from '../test/support/processes/throwaway-postgres.ts'
import { createTemplate } from '../test/support/template-database.ts'
import { parseRows, type Row } from './coverage.ts'
import { asSource, counts, describe, type Mutation } from './mutate/mutation.ts'
import { writeReport } from './mutate/report.ts'
import { sourceMutations } from './mutate/source-mutations.ts'
import { variableMutations } from './mutate/variable-mutations.ts'
import { createWorkingCopy, isWithin, type WorkingCopy } from './mutate/working-copy.ts'

interface Outcome {
  mutation: Mutation
  /** The cited test that failed; undefined when none did. */
  failed: Row['tests'][number] | undefined
}

const template = `postern_mutate_${process.pid}`
const root = join(import.meta.dirname, '..')
const rows = parseRows(readFileSync(join(root, 'docs/coverage.md'), 'utf8'))
const mutations: readonly Mutation[] = [...variableMutations, ...sourceMutations]

process.exitCode = await main(process.argv.slice(2))

async function main(expected: string[]): Promise<number> {
  const chosen = mutations.filter(
    ({ row }) => expected.length === 0 || expected.some((words) => row.startsWith(words)),
  )
  const outcomes: Outcome[] = []
  const postgres = await startThrowawayPostgres()
  await createTemplate(postgres.url, template)
  const workingCopy = createWorkingCopy({ adminUrl: postgres.url, template })
  try {
    for (const mutation of chosen) {
      const failed = await tryOne(workingCopy, mutation)
      const outcome = failed ? 'noticed ' : 'SURVIVED'
      console.log(`${outcome} ${mutation.row}: ${describe(mutation)}: ${failed?.title ?? ''}`)
      outcomes.push({ mutation, failed })
      report(outcomes)
    }
    await checkUnchanged(workingCopy, outcomes)
    report(outcomes)
  } finally {
    workingCopy.remove()
    await postgres.stop()
  }
  const survivors = outcomes.filter(({ failed }) => failed === undefined)
  console.log(`${outcomes.length - survivors.length} of ${outcomes.length} were noticed.`)
  return survivors.length === 0 ? 0 : 1
}

function report(outcomes: readonly Outcome[]): void {
  const entries = outcomes.map(({ mutation, failed }) => ({
    mutation,
    noticedBy: failed && `${failed.file} › ${failed.title}`,
  }))
  writeReport(mutations, entries)
}

/** Returns the first cited test that fails with the change. */
async function tryOne(workingCopy: WorkingCopy, mutation: Mutation): Promise<Outcome['failed']> {
  const cited = Map.groupBy(
    findRow(mutation).tests.filter(({ file }) => counts(mutation, file)),
    ({ file }) => file,
  )
  for (const [file, tests] of cited) {
    const undo = workingCopy.apply(asSource(mutation))
    const selected = listParts(mutation) ?? tests.map(({ title }) => title)
    const { failed } = await workingCopy.run(file, selected).finally(undo)
    const noticed = tests.find(({ title }) => failed.some((full) => isWithin(full, title)))
    if (noticed) return noticed
  }
  return undefined
}

/** A test that also fails without the change does not count. */
async function checkUnchanged(workingCopy: WorkingCopy, outcomes: Outcome[]): Promise<void> {
  const noticed = outcomes.filter(({ failed }) => failed !== undefined)
  const byFile = Map.groupBy(noticed, ({ failed }) => failed?.file ?? '')
  for (const [file, each] of byFile) {
    const titles = each.flatMap(
      ({ mutation, failed }) => listParts(mutation) ?? failed?.title ?? [],
    )
    const { failed, passed } = await workingCopy.run(file, [...new Set(titles)])
    for (const outcome of each) {
      const title = outcome.failed?.title ?? ''
      const isOfTitle = (full: string) => isWithin(full, title)
      const isSound = passed.some(isOfTitle) && !failed.some(isOfTitle)
      if (isSound) continue
      console.log(`FAILS UNCHANGED ${file} › ${title}`)
      outcome.failed = undefined
    }
  }
}

function listParts(mutation: Mutation): string[] | undefined {
  return 'part' in mutation ? [mutation.part] : undefined
}

function findRow({ row }: Mutation): Row {
  const found = rows.filter(({ what }) => what.replaceAll('`', '').startsWith(row))
  const [first] = found
  if (!first) throw new Error(`docs/coverage.md has no row that begins with ${row}`)
  return first
}
