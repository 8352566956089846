import assert from 'node:assert/strict'
import { test } from 'node:test'

import { createPhoneProofs } from '../../../plugins/accounts/phone-proofs.ts'
import { password } from '../../support/mail-journeys.ts'
import { buildWithSms, newNumber, post } from '../../support/phone-journeys.ts'

const type = 'confirmation_token'

test('a sign-up while the provider is asked voids its answer: the password is another one by then', async (t) => {
  const server = await buildWithSms(t)
  const { config, db, oneTimeTokens } = server.app
  const phone = newNumber()
  const signUp = (secret: string) => post(server, '/signup', { phone, password: secret })
  const proofs = (meanwhile: () => Promise<unknown>) =>
    createPhoneProofs({
      sms: {
        testOtp: () => undefined,
        async verify() {
          await meanwhile()
          return true
        },
      },
      oneTimeTokens,
      aud: config.AUTH_JWT_AUD,
    })
  const spend = async ({ judge, take }: ReturnType<typeof proofs>) => {
    const [typed, now] = [{ type, phone, code: '482910' } as const, new Date()]
    const judgement = await judge(db, typed, now)
    return db.transaction().execute((trx) => take(trx, typed, judgement, now))
  }

  await signUp(password)
  assert.equal(
    await spend(proofs(() => Promise.resolve(signUp('a password of somebody else')))),
    undefined,
  )
  assert.equal((await spend(proofs(async () => {})))?.relates_to, phone)
})
