import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { KyselyPlugin } from 'kysely'

import { countTokenAttempt } from '../../db/tokens/attempts.ts'
import { upsertToken } from '../../db/tokens/one-time-tokens.ts'
import { sharedServers } from '../support/processes/shared-servers.ts'
import type { App } from '../support/server.ts'
import { adminCreatedUser, newAddress } from '../support/users.ts'

const token_type = 'confirmation_token'

/** Sends a code to the user, as /otp does. */
function sendCode({ db }: App, user_id: string, address: string): Promise<void> {
  const expires_at = new Date(Date.now() + 60_000)
  const form = { token_type, token_hash: newAddress(), relates_to: address } as const
  return upsertToken(db, { ...form, user_id, expires_at, purpose: null, mirror: null }, new Date())
}

function attemptAt({ db }: App, address: string, afterFirst?: () => Promise<void>) {
  let responses = 0
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      responses += 1
      if (responses === 1) await afterFirst?.()
      return result
    },
  }
  const lifetimes = { mailSeconds: 60, smsSeconds: 60 }
  const at = { address, dummySlot: 0, lifetimes }
  return db
    .transaction()
    .execute((trx) => countTokenAttempt(trx.withPlugin(plugin), [token_type], at, new Date()))
}

suite('failed code attempt', () => {
  const serverFor = sharedServers()

  test('is counted when a code was sent', async () => {
    const { app } = await serverFor()
    const email = newAddress()
    const { id } = await adminCreatedUser(app, { email })
    await sendCode(app, id, email)
    const [token] = await attemptAt(app, email)
    assert.equal(token?.user_id, id)
    assert.equal(await countFailures(app, id), 1)
  })

  test('ignores a code sent after the locks were taken', async () => {
    const { app } = await serverFor()
    const email = newAddress()
    const { id } = await adminCreatedUser(app, { email })
    assert.deepEqual(await attemptAt(app, email, () => sendCode(app, id, email)), [])
    assert.equal(await countFailures(app, id), 0)
  })
})

async function countFailures({ db }: App, userId: string): Promise<number> {
  const { failed_attempts } = await db
    .selectFrom('postern_one_time_tokens')
    .innerJoin('one_time_tokens', 'id', 'token_id')
    .select('failed_attempts')
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow()
  return Number(failed_attempts)
}
