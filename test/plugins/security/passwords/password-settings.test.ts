/** Cost and queue of hashing by AUTH_PASSWORD_ARGON2_* and AUTH_PASSWORD_HASH_*. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { variables } from '../../../../config/groups/index.ts'
import { statusAndCode } from '../../../support/requests.ts'
import { build } from '../../../support/server.ts'
import { autoconfirm, signIn, signUpUser } from '../../../support/users.ts'

const minimal = { MEMORY: 8192, TIME: 1, PARALLELISM: 1 }

const costs: Record<string, Partial<typeof minimal>> = {
  'the minimum of each': {},
  'two lanes': { PARALLELISM: 2 },
  'the maximum of passes': { TIME: variables.AUTH_PASSWORD_ARGON2_TIME.maximum ?? 0 },
  'the maximum of lanes': { PARALLELISM: variables.AUTH_PASSWORD_ARGON2_PARALLELISM.maximum ?? 0 },
}

/** Slow enough that a concurrent request finds it running. */
const slow = {
  ...autoconfirm,
  AUTH_PASSWORD_ARGON2_MEMORY: '65536',
  AUTH_PASSWORD_ARGON2_TIME: '4',
  AUTH_PASSWORD_HASH_CONCURRENCY: '1',
}

suite('password hashing', () => {
  for (const [name, given] of Object.entries(costs)) {
    test(`${name}: hashes with the cost and verifies`, async (t) => {
      const cost = { ...minimal, ...given }
      const env = Object.entries(cost).map(([field, value]) => [
        `AUTH_PASSWORD_ARGON2_${field}`,
        String(value),
      ])
      const { app } = await build(t, { env: { ...autoconfirm, ...Object.fromEntries(env) } })
      const { email, user } = await signUpUser(app)
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
      assert.deepEqual(statusAndCode(await signIn(app, { email })), [200, ''])
    })
  }

  for (const mayWait of [0, 2]) {
    test(`AUTH_PASSWORD_HASH_QUEUE=${mayWait} limits waiting requests`, async (t) => {
      const env = { ...slow, AUTH_PASSWORD_HASH_QUEUE: String(mayWait) }
      const { app } = await build(t, { env })
      const { email } = await signUpUser(app)
      const underWay = Array.from({ length: 1 + mayWait }, () => app.passwords.hash('any'))

      const oneMore = await signIn(app, { email })

      assert.deepEqual(statusAndCode(oneMore), [503, 'service_unavailable'])
      assert.ok(Number(oneMore.headers['retry-after']) > 0)
      await Promise.all(underWay)
      assert.deepEqual(statusAndCode(await signIn(app, { email })), [200, ''])
    })
  }
})
