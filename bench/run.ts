import { writeFile } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'

import type { Side } from './cost.ts'
import { type Contact, type Kind, makePeople, newContact } from './enumeration/crowd.ts'
import type { Question } from './enumeration/questions.ts'
import { type Crowd, enumerate, type Finding } from './enumeration.ts'
import { measure, type Result } from './measure.ts'
import { type Options, readOptions, usage } from './options.ts'
import { findingRow, findingsHead, remarks, tableHead, tableRows } from './report.ts'
import { Refused } from './scenario.ts'
import { floorName, startSides } from './sides.ts'
import type { Target } from './target.ts'

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
    if (!(error instanceof Refused)) throw error
    console.error(error.message)
    process.exitCode = 1
  }
}

async function run(options: Options): Promise<void> {
  await using started = new AsyncDisposableStack()
  const sides = await startSides(started, options)
  for (const { target } of sides) started.defer(() => target.close())
  for (const side of sides) await reach(side)
  console.log(`${describe(options, sides)}\n`)
  const results = await runScenarios(options, sides)
  const findings = options.enumeration ? await runEnumeration(options, sides) : []
  if (options.json) await writeJson(options, results, findings)
}

/** Any answer will do; throws one sentence when there is none. */
async function reach({ target }: Side): Promise<void> {
  try {
    await target.send({ method: 'GET', path: '/health' })
  } catch {
    throw new Refused(`Nothing answers at ${target.url}`)
  }
}

function describe({ connections, seconds, rounds }: Options, sides: Side[]): string {
  const pids = (found: readonly number[]) =>
    found.length > 0
      ? `pid ${found.join(', ')}`
      : 'its process is not found, so its cost is not shown'
  return [
    `${connections} connections, ${seconds} s a scenario and side in ${rounds} rounds`,
    ...sides.map(({ target, serverPids }) => `${target.name}: ${target.url}, ${pids(serverPids)}`),
    `Postgres: ${pids(sides[0]?.postgresPid === undefined ? [] : [sides[0].postgresPid])}`,
  ].join('\n')
}

async function runScenarios(options: Options, sides: Side[]): Promise<Record<string, Result[]>> {
  const results: Record<string, Result[]> = {}
  if (options.scenarios.length > 0) console.log(tableHead())
  for (const scenario of options.scenarios) {
    const found = await measure(scenario, sides, options)
    results[scenario.name] = found
    const [floor, rest] = [found.find(isFloor), found.filter((result) => !isFloor(result))]
    console.log(tableRows(scenario.name, rest, floor))
  }
  const notes = Object.entries(results).flatMap(([name, found]) => remarks(name, found))
  if (notes.length > 0) console.log(`\n${notes.join('\n')}`)
  return results
}

function isFloor({ side }: Result): boolean {
  return side === floorName
}

async function runEnumeration({ pairs, questions }: Options, sides: Side[]) {
  const findings: { side: string; finding: Finding }[] = []
  console.log(`\n${pairs} people of each kind, and as many strangers\n\n${findingsHead()}`)
  for (const { target, scenario } of sides) {
    if (scenario) continue
    const crowd = await makeCrowd(target, questions, pairs)
    for (const question of questions) {
      for (const finding of await enumerateOrExplain(target, question, crowd)) {
        findings.push({ side: target.name, finding })
        console.log(findingRow(target.name, finding))
      }
    }
  }
  for (const { side, finding } of findings) {
    const { question, kind, tells } = finding
    for (const tell of tells) console.log(`\n${question}, ${kind}, ${side}, only ${tell}`)
  }
  return findings
}

/** Of the kinds that are asked about, those that the server can have. */
async function makeCrowd(target: Target, questions: Question[], n: number): Promise<Crowd> {
  const crowd = new Map<Kind, Contact[]>()
  for (const kind of new Set(questions.flatMap((question) => question.kinds))) {
    try {
      crowd.set(kind, await makePeople(target, kind, n))
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      console.log(`| - | ${kind} | ${target.name} | skipped: ${error.message} |`)
    }
  }
  return crowd
}

async function enumerateOrExplain(
  target: Target,
  question: Question,
  crowd: Crowd,
): Promise<Finding[]> {
  try {
    if (question.amongAll) await untilKnown(target, question)
    return await enumerate(target, question, crowd)
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    console.log(`| ${question.name} | - | ${target.name} | skipped: ${error.message} |`)
    return []
  }
}

async function writeJson(options: Options, results: object, findings: object[]): Promise<void> {
  const { json, url, against, connections, seconds, rounds } = options
  const setting = { url, against, connections, seconds, rounds }
  const content = { at: new Date().toISOString(), setting, results, enumeration: findings }
  if (json) await writeFile(json, `${JSON.stringify(content, null, 2)}\n`)
}

/** The server looks once a minute at what kinds of people it has, when somebody asks. */
async function untilKnown(target: Target, question: Question): Promise<void> {
  await setTimeout(61_000)
  await target.send(question.request(newContact('confirmed')))
  await setTimeout(1000)
}
