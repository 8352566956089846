/** The race harness: seeds are reproducible, and requests interleave. */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import { endingOfSuite } from '../support/processes/ending.ts'
import { createRaceRunner, type RaceRunner } from '../support/races/race.ts'
import { createRaceUsers, newPassword, type Users } from '../support/races/users.ts'
import { build } from '../support/server.ts'
import { unnamedStatements } from '../support/statements.ts'
import { signIn } from '../support/users.ts'

suite('race harness', () => {
  const ending = endingOfSuite()
  let users: Users
  let runner: RaceRunner
  before(async () => {
    const server = await build(ending, { env: unnamedStatements })
    runner = await createRaceRunner(server.app.pool, server.database.url)
    ending.after(runner.close)
    users = await createRaceUsers(server)
  })

  test('a seed reproduces its interleaving', async () => {
    for (const seed of [4, 7, 40, 41, 42]) {
      const ways = [await recordOrder(seed), await recordOrder(seed)]
      // A pause of the machine during a hash looks like a request that waits for the other one.
      while (!isRepeated(ways) && ways.length < 5) ways.push(await recordOrder(seed))
      assert.ok(isRepeated(ways), `seed ${seed}: ${ways.length} different ways`)
    }
  })

  test('the first seeds pause a request after one more statement each', async () => {
    const before = async (seed: number) => (await recordOrder(seed)).findIndex(isOfFirst)
    const found = [await before(1), await before(3), await before(5)]
    assert.deepEqual(found, [0, 1, 2])
  })

  test('other seeds produce other interleavings', async () => {
    const ways = new Set<string>()
    for (let seed = 30; seed < 40; seed += 1) ways.add((await recordOrder(seed)).join('\n'))
    assert.ok(ways.size > 5, `${ways.size} ways`)
  })

  const isOfFirst = (line: string) => line.startsWith('first')

  const isRepeated = (ways: string[][]) => new Set(ways.map(String)).size < ways.length

  /** Who sent what, in order, of a sign-in and a change of the password. */
  async function recordOrder(seed: number): Promise<string[]> {
    const { id, email } = await users.create()
    const requests = {
      first: async () => signIn(users.app, { email }),
      second: () => users.asAdmin('PUT', `/admin/users/${id}`, { password: newPassword }),
    }
    const { statements } = await runner.race(requests, seed)
    return statements.map(({ request, text }) => `${request} ${text.slice(0, 40)}`)
  }
})
