/** Pairs of racing requests, with the invariant that must hold afterwards, whichever came first. */
import assert from 'node:assert/strict'

import type { App } from '../server.ts'
import type { Outcome, RaceRunner } from './race.ts'
import type { StatementTiming } from './racing-requests.ts'

export type Response = Awaited<ReturnType<App['inject']>>

export type RaceOutcome = Outcome<Response, Response>

export interface Pair<Stage> {
  /** One sentence that is true after each race. */
  invariant: string
  /** Creates the users of one race. */
  prepare(seed: number): Promise<Stage>
  first(stage: Stage): Promise<Response>
  second(stage: Stage): Promise<Response>
  /** One sentence for each violation of the invariant. */
  violations(stage: Stage, outcome: RaceOutcome): Promise<string[]> | string[]
}

/** A pair that is ready to run on its server. */
export type Races = (runner: RaceRunner) => Promise<void>

/** Number of rounds of each pair; each round has the next seed. */
const rounds = process.env.TEST_RACE_ROUNDS

/** Runs one race only and prints its interleaving. */
const onlySeed = process.env.TEST_RACE_SEED

/** Fails with each seed that broke the invariant, and the statements of the first such race. */
export function runRaces<Stage>(pair: Pair<Stage>, defaultRounds: number): Races {
  const seeds = Array.from({ length: Number(rounds ?? defaultRounds) }, (_, seed) => seed)
  return async (runner) => {
    const broken: string[] = []
    let report = ''
    for (const seed of onlySeed === undefined ? seeds : [Number(onlySeed)]) {
      const { wrong, interleaving: reported } = await runOne(runner, pair, seed)
      if (wrong.length > 0) broken.push(`seed ${seed}: ${wrong.join('; ')}`)
      if (wrong.length > 0 && report === '') report = reported
      if (onlySeed !== undefined) console.log(reported)
    }
    assert.deepEqual(broken, [], `${pair.invariant}\n${report}`)
  }
}

async function runOne<Stage>(runner: RaceRunner, pair: Pair<Stage>, seed: number) {
  const stage = await pair.prepare(seed)
  const requests = { first: () => pair.first(stage), second: () => pair.second(stage) }
  const outcome = await runner.race(requests, seed)
  const wrong = [...serverErrors(outcome), ...(await pair.violations(stage, outcome))]
  return { wrong, interleaving: formatOutcome(outcome) }
}

/** The names of the facts that are true. */
export function trueFacts(facts: Record<string, boolean>): string[] {
  return Object.entries(facts).flatMap(([fact, isTrue]) => (isTrue ? [fact] : []))
}

function serverErrors({ first, second }: RaceOutcome): string[] {
  return Object.entries({ first, second })
    .filter(([, { statusCode }]) => statusCode >= 500)
    .map(([name, { statusCode, body }]) => `the ${name} request returned ${statusCode} ${body}`)
}

function formatOutcome({ first, second, statements }: RaceOutcome): string {
  const lines = statements.map(({ request, text, sent, returned }) => {
    const waited = returned > sent + 1 ? ` (returned at ${returned})` : ''
    return `${String(sent).padStart(4)} ${request.padEnd(6)} ${text.slice(0, 150)}${waited}`
  })
  const responses = `first: ${first.statusCode}, second: ${second.statusCode}`
  return [...lines, responses].join('\n')
}

/** The last statement of a request that matches. */
export function findStatement(
  { statements }: RaceOutcome,
  request: 'first' | 'second',
  fits: RegExp,
): StatementTiming | undefined {
  return statements.findLast((timing) => timing.request === request && fits.test(timing.text))
}

/** Whether a request sent its first statement, the authentication, only after the other had committed. */
export function startedAfter(outcome: RaceOutcome, later: 'first' | 'second'): boolean {
  const earlier = later === 'first' ? 'second' : 'first'
  const begin = outcome.statements.find(({ request }) => request === later)
  const end = findStatement(outcome, earlier, /^commit/)
  return begin !== undefined && end !== undefined && begin.sent > end.returned
}
