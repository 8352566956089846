/** A suite of pairs of racing requests on one server. */
import { before, suite, test } from 'node:test'

import { endingOfSuite } from '../processes/ending.ts'
import { build } from '../server.ts'
import { unnamedStatements } from '../statements.ts'
import type { Races } from './pairs.ts'
import { createRaceRunner, type RaceRunner } from './race.ts'
import { createRaceUsers, type Users } from './users.ts'

export type Pairs = Record<string, (users: Users) => Races>

/** One test per pair, on a server with these settings. */
export function suiteOfRaces(title: string, env: Record<string, string>, pairs: Pairs): void {
  suite(title, () => {
    const ending = endingOfSuite()
    let users: Users
    let runner: RaceRunner
    before(async () => {
      const server = await build(ending, { env: { ...env, ...unnamedStatements } })
      runner = await createRaceRunner(server.app.pool, server.database.url)
      ending.after(runner.close)
      users = await createRaceUsers(server)
    })

    for (const [name, races] of Object.entries(pairs)) {
      test(name, () => races(users)(runner))
    }
  })
}
