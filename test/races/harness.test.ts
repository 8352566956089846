/** The races themselves: a seed repeats one, and requests really are interleaved. */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import { endingOfSuite } from '../support/ending.ts'
import { signIn } from '../support/people.ts'
import { newPassword, type People, peopleOf } from '../support/races/people.ts'
import { openRacetrack, type Racetrack } from '../support/races/race.ts'
import { build } from '../support/server.ts'
import { unnamedStatements } from '../support/statements.ts'

suite('races', () => {
  const ending = endingOfSuite()
  let people: People
  let track: Racetrack
  before(async () => {
    const server = await build(ending, { env: unnamedStatements })
    track = await openRacetrack(server.app.pool, server.database.url)
    ending.after(track.close)
    people = await peopleOf(server)
  })

  test('a seed repeats the way that a race took', async () => {
    for (const seed of [4, 7, 40, 41, 42]) assert.deepEqual(await wayOf(seed), await wayOf(seed))
  })

  test('the first seeds stop one request after one statement more each time', async () => {
    const before = async (seed: number) => (await wayOf(seed)).findIndex(isOfFirst)
    const found = [await before(1), await before(3), await before(5)]
    assert.deepEqual(found, [0, 1, 2])
  })

  test('other seeds take other ways', async () => {
    const ways = new Set<string>()
    for (let seed = 30; seed < 40; seed += 1) ways.add((await wayOf(seed)).join('\n'))
    assert.ok(ways.size > 5, `${ways.size} ways`)
  })

  const isOfFirst = (line: string) => line.startsWith('first')

  /** Who sent what, in order, of a sign-in and a change of the password. */
  async function wayOf(seed: number): Promise<string[]> {
    const { id, email } = await people.create()
    const requests = {
      first: async () => signIn(people.app, { email }),
      second: () => people.asAdmin('PUT', `/admin/users/${id}`, { password: newPassword }),
    }
    const { passages } = await track.race(requests, seed)
    return passages.map(({ lane, text }) => `${lane} ${text.slice(0, 40)}`)
  }
})
