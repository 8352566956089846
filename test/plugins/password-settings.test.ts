/** What hashes cost and how many may wait, as AUTH_PASSWORD_ARGON2_* and AUTH_PASSWORD_HASH_* say. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { variables } from '../../plugins/config/config.ts'
import { autoconfirm, newPerson, signIn } from '../support/people.ts'
import { outcomeOf } from '../support/requests.ts'
import { build } from '../support/server.ts'

const least = { MEMORY: 8192, TIME: 1, PARALLELISM: 1 }

const costs: Record<string, Partial<typeof least>> = {
  'the least of each': {},
  'two lanes': { PARALLELISM: 2 },
  'the most passes': { TIME: variables.AUTH_PASSWORD_ARGON2_TIME.maximum ?? 0 },
  'the most lanes': { PARALLELISM: variables.AUTH_PASSWORD_ARGON2_PARALLELISM.maximum ?? 0 },
}

/** Slow enough that whoever comes meanwhile finds it under way. */
const slow = {
  ...autoconfirm,
  AUTH_PASSWORD_ARGON2_MEMORY: '65536',
  AUTH_PASSWORD_ARGON2_TIME: '4',
  AUTH_PASSWORD_HASH_CONCURRENCY: '1',
}

suite('hashes of passwords', () => {
  for (const [name, given] of Object.entries(costs)) {
    test(`${name}: the hash has it, and who has the hash signs in`, async (t) => {
      const cost = { ...least, ...given }
      const env = Object.entries(cost).map(([field, value]) => [
        `AUTH_PASSWORD_ARGON2_${field}`,
        String(value),
      ])
      const { app } = await build(t, { env: { ...autoconfirm, ...Object.fromEntries(env) } })
      const { email, user } = await newPerson(app)
      const { encrypted_password: hash } = await app.db
        .selectFrom('users')
        .select('encrypted_password')
        .where('id', '=', user.id)
        .executeTakeFirstOrThrow()
      const { MEMORY, TIME, PARALLELISM } = cost
      assert.ok(
        hash?.startsWith(`$argon2id$v=19$m=${MEMORY},t=${TIME},p=${PARALLELISM}$`),
        hash ?? '',
      )
      assert.deepEqual(outcomeOf(await signIn(app, { email })), [200, ''])
    })
  }

  for (const mayWait of [0, 2]) {
    test(`AUTH_PASSWORD_HASH_QUEUE=${mayWait}: so many wait for the one that is worked on`, async (t) => {
      const env = { ...slow, AUTH_PASSWORD_HASH_QUEUE: String(mayWait) }
      const { app } = await build(t, { env })
      const { email } = await newPerson(app)
      const underWay = Array.from({ length: 1 + mayWait }, () => app.passwords.hash('any'))

      const oneMore = await signIn(app, { email })

      assert.deepEqual(outcomeOf(oneMore), [503, 'service_unavailable'])
      assert.ok(Number(oneMore.headers['retry-after']) > 0)
      await Promise.all(underWay)
      assert.deepEqual(outcomeOf(await signIn(app, { email })), [200, ''])
    })
  }
})
