/** The rows of the table, and how a client becomes a column. */
import { type TestContext, type TestOptions, test } from 'node:test'

import { startWorld, type World } from './world.ts'

export const journeys = [
  'sign-up and confirmation',
  'password, user, metadata',
  'refresh and sign-out',
  'code by email',
  'recovery, new password',
  'email change',
  'phone',
  'anonymous user',
  'external provider',
  'ID token',
  'linked identities',
  'second factor',
  'recovery codes',
  'passkey',
  'single sign-on',
  'custom providers',
  'wallets',
  'admin',
  'error codes',
  'disabled features',
  'every documented method',
] as const

type Journey = (typeof journeys)[number]

/** Runs one journey. A failure is a cell of the table, and the others continue. */
export type RunJourney = (journey: Journey, steps: () => Promise<void>) => Promise<void>

/** A column: the client gets a server of its own. */
export function client(
  name: string,
  run: (world: World, runJourney: RunJourney, t: TestContext) => Promise<void>,
  options: TestOptions = {},
  env: Record<string, string> = {},
): void {
  test(name, options, async (t) => {
    const world = await startWorld(t, env)
    const runJourney: RunJourney = (journey, steps) => t.test(journey, steps)
    await run(world, runJourney, t)
  })
}
