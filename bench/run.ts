import { writeFile } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'

import { Rejected } from './core/rejected.ts'
import type { Target } from './core/target.ts'
import type { Variant } from './cost.ts'
import type { EnumerationCase } from './enumeration/cases.ts'
import { type Contact, createUsers, type Kind, newContact } from './enumeration/users.ts'
import { type EnumerationUsers, enumerate, type Finding } from './enumeration.ts'
import { measureIdle } from './idle.ts'
import { measure, type Result } from './measure.ts'
import { type Options, readOptions, usage } from './options.ts'
import { findingRow, findingsHead, idleTable, listNotes, tableHead, tableRows } from './report.ts'
import { baselineName, startVariants } from './variants.ts'

const options = readCommandLine()
if (options?.help) console.log(usage)
else if (options) await runOrExplain(options)

function readCommandLine(): Options | undefined {
  try {
    return readOptions(process.argv.slice(2))
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${usage}`)
    process.exitCode = 1
    return undefined
  }
}

async function runOrExplain(options: Options): Promise<void> {
  try {
    await run(options)
  } catch (error) {
    if (!(error instanceof Rejected)) throw error
    console.error(error.message)
    process.exitCode = 1
  }
}

async function run(options: Options): Promise<void> {
  await using started = new AsyncDisposableStack()
  const variants = await startVariants(started, options)
  for (const { target } of variants) started.defer(() => target.close())
  for (const variant of variants) await reach(variant)
  console.log(`${describe(options, variants)}\n`)
  // First, while the tables are empty and no work is pending.
  const idle = options.idle ? await measureIdle(variants) : []
  if (options.idle) console.log(`${idleTable(idle)}\n`)
  const results = await runScenarios(options, variants)
  const findings = options.enumeration ? await runEnumeration(options, variants) : []
  if (options.json) await writeJson(options, { results, idle, enumeration: findings })
}

/** Accepts any response; throws one sentence when there is none. */
async function reach({ target }: Variant): Promise<void> {
  try {
    await target.send({ method: 'GET', path: '/health' })
  } catch {
    throw new Rejected(`No server responds at ${target.url}`)
  }
}

function describe({ connections, seconds, rounds }: Options, variants: Variant[]): string {
  const pids = (found: readonly number[]) =>
    found.length > 0
      ? `pid ${found.join(', ')}`
      : 'its process was not found, so its cost is not shown'
  return [
    `${connections} connections, ${seconds} s per scenario and server in ${rounds} rounds`,
    ...variants.map(
      ({ target, serverPids }) => `${target.name}: ${target.url}, ${pids(serverPids)}`,
    ),
    `Postgres: ${pids(variants[0]?.postgresPid === undefined ? [] : [variants[0].postgresPid])}`,
  ].join('\n')
}

async function runScenarios(
  options: Options,
  variants: Variant[],
): Promise<Record<string, Result[]>> {
  const results: Record<string, Result[]> = {}
  if (options.scenarios.length > 0) console.log(tableHead())
  for (const scenario of options.scenarios) {
    const found = await measure(scenario, variants, options)
    results[scenario.name] = found
    const [floor, rest] = [found.find(isFloor), found.filter((result) => !isFloor(result))]
    console.log(tableRows(scenario.name, rest, floor))
  }
  const notes = Object.entries(results).flatMap(([name, found]) => listNotes(name, found))
  if (notes.length > 0) console.log(`\n${notes.join('\n')}`)
  return results
}

function isFloor({ variant }: Result): boolean {
  return variant === baselineName
}

async function runEnumeration({ pairs, questions }: Options, variants: Variant[]) {
  const findings: { variant: string; finding: Finding }[] = []
  console.log(`\n${pairs} users of each kind, and as many unknown addresses\n\n${findingsHead()}`)
  for (const { target, scenario } of variants) {
    if (scenario) continue
    const enumerationUsers = await createEnumerationUsers(target, questions, pairs)
    for (const question of questions) {
      for (const finding of await enumerateOrExplain(target, question, enumerationUsers)) {
        findings.push({ variant: target.name, finding })
        console.log(findingRow(target.name, finding))
      }
    }
  }
  for (const { variant, finding } of findings) {
    const { question, kind, differences } = finding
    for (const difference of differences) {
      console.log(`\n${question}, ${kind}, ${variant}, only ${difference}`)
    }
  }
  return findings
}

/** Of the requested account states, those the server supports. */
async function createEnumerationUsers(
  target: Target,
  questions: EnumerationCase[],
  n: number,
): Promise<EnumerationUsers> {
  const enumerationUsers = new Map<Kind, Contact[]>()
  for (const kind of new Set(questions.flatMap((question) => question.kinds))) {
    try {
      enumerationUsers.set(kind, await createUsers(target, kind, n))
    } catch (error) {
      if (!(error instanceof Rejected)) throw error
      console.log(`| - | ${kind} | ${target.name} | skipped: ${error.message} |`)
    }
  }
  return enumerationUsers
}

async function enumerateOrExplain(
  target: Target,
  question: EnumerationCase,
  enumerationUsers: EnumerationUsers,
): Promise<Finding[]> {
  try {
    if (question.amongAll) await untilKnown(target, question)
    return await enumerate(target, question, enumerationUsers)
  } catch (error) {
    if (!(error instanceof Rejected)) throw error
    console.log(`| ${question.name} | - | ${target.name} | skipped: ${error.message} |`)
    return []
  }
}

async function writeJson(options: Options, measured: object): Promise<void> {
  const { json, url, against, connections, seconds, rounds } = options
  const setting = { url, against, connections, seconds, rounds }
  const content = { at: new Date().toISOString(), setting, ...measured }
  if (json) await writeFile(json, `${JSON.stringify(content, null, 2)}\n`)
}

/** On request, the server samples its users’ hashes once a minute. */
async function untilKnown(target: Target, question: EnumerationCase): Promise<void> {
  await setTimeout(61_000)
  const [kind = 'confirmed'] = question.kinds
  await target.send(question.request(newContact(kind)))
  await setTimeout(1000)
}
