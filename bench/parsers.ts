/**
 * `node bench/parsers.ts [RUNS]`: how long the worst document of 64 KB and of 1 MB blocks the event loop, for each
 * parser: the processor time of its thread, which other programs do not change. Prints the table of
 * docs/security/parser-budget.md. DATABASE_URL names an empty database.
 */
import { budgetEnv, listLoads } from '../test/support/parser-budget/index.ts'
import { type Load, largeBytes, smallBytes } from '../test/support/parser-budget/load.ts'
import { measureBlocked } from '../test/support/parser-budget/measure.ts'
import { build } from '../test/support/server.ts'
import { migrateEmptyDatabase } from './empty-database.ts'

const [runs = 7] = process.argv.slice(2).map(Number)

await using ending = new AsyncDisposableStack()
const after = (stop: () => Promise<void>) => ending.defer(stop)
const database = await migrateEmptyDatabase()
const { app } = await build({ after }, { database, env: budgetEnv })

console.log('| Parser | Worst 64 KB | ms | Worst 1 MB | ms |\n|---|---|---|---|---|')
for (const [parser, loads] of await listLoads(app)) {
  const cells = [await findWorst(loads, smallBytes), await findWorst(loads, largeBytes)]
  console.log(`| ${[parser, ...cells.flat()].join(' | ')} |`)
}

async function findWorst(loads: readonly Load[], bytes: number): Promise<[string, string]> {
  let worst = { title: 'all', milliseconds: 0 }
  for (const load of loads.filter((each) => each.bytes === bytes)) {
    const milliseconds = await measureLeast(load)
    if (milliseconds > worst.milliseconds) worst = { title: load.title, milliseconds }
  }
  return [worst.title, worst.milliseconds.toFixed(1)]
}

/** The least of all runs: the garbage of other documents does not count. */
async function measureLeast({ run }: Load): Promise<number> {
  const measured: number[] = []
  for (let at = 0; at < runs; at += 1) measured.push((await measureBlocked(run)).cpuMilliseconds)
  return Math.min(...measured)
}
