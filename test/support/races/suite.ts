/** A suite of pairs that race on one server. */
import { before, suite, test } from 'node:test'

import { endingOfSuite } from '../processes/ending.ts'
import { build } from '../server.ts'
import { unnamedStatements } from '../statements.ts'
import type { Races } from './pairs.ts'
import { openRacetrack, type Racetrack } from './race.ts'
import { createRaceUsers, type Users } from './users.ts'

export type Pairs = Record<string, (users: Users) => Races>

/** One test per pair, on a server with these settings. */
export function suiteOfRaces(title: string, env: Record<string, string>, pairs: Pairs): void {
  suite(title, () => {
    const ending = endingOfSuite()
    let users: Users
    let track: Racetrack
    before(async () => {
      const server = await build(ending, { env: { ...env, ...unnamedStatements } })
      track = await openRacetrack(server.app.pool, server.database.url)
      ending.after(track.close)
      users = await createRaceUsers(server)
    })

    for (const [name, races] of Object.entries(pairs)) {
      test(name, () => races(users)(track))
    }
  })
}
