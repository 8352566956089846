import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { KyselyPlugin } from 'kysely'

import { putToken } from '../../db/one-time-tokens.ts'
import { countTokenGuess } from '../../db/token-guesses.ts'
import { createdPerson, newAddress } from '../support/people.ts'
import type { App } from '../support/server.ts'
import { sharedServers } from '../support/shared-servers.ts'

const token_type = 'confirmation_token'

/** Sends a code to the person, as /otp does. */
function sendCode({ db }: App, user_id: string, address: string): Promise<void> {
  const expires_at = new Date(Date.now() + 60_000)
  const form = { token_type, token_hash: newAddress(), relates_to: address } as const
  return putToken(db, { ...form, user_id, expires_at, mirror: null }, new Date())
}

function guessAt({ db }: App, address: string, afterFirst?: () => Promise<void>) {
  let answers = 0
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      answers += 1
      if (answers === 1) await afterFirst?.()
      return result
    },
  }
  const lifetimes = { mailSeconds: 60, smsSeconds: 60 }
  const at = { address, decoySlot: 0, lifetimes }
  return db
    .transaction()
    .execute((trx) => countTokenGuess(trx.withPlugin(plugin), [token_type], at, new Date()))
}

suite('a guess at a code', () => {
  const serverFor = sharedServers()

  test('is counted where a code was sent', async () => {
    const { app } = await serverFor()
    const email = newAddress()
    const { id } = await createdPerson(app, { email })
    await sendCode(app, id, email)
    const [token] = await guessAt(app, email)
    assert.equal(token?.user_id, id)
    assert.equal(await failuresOf(app, id), 1)
  })

  test('leaves a code alone that was sent after the locks were taken, since it may go at any moment', async () => {
    const { app } = await serverFor()
    const email = newAddress()
    const { id } = await createdPerson(app, { email })
    assert.deepEqual(await guessAt(app, email, () => sendCode(app, id, email)), [])
    assert.equal(await failuresOf(app, id), 0)
  })
})

async function failuresOf({ db }: App, userId: string): Promise<number> {
  const { failed_attempts } = await db
    .selectFrom('postern_one_time_tokens')
    .innerJoin('one_time_tokens', 'id', 'token_id')
    .select('failed_attempts')
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow()
  return Number(failed_attempts)
}
