import assert from 'node:assert/strict'
import { createSecretKey, randomBytes } from 'node:crypto'
import { test } from 'node:test'

import { judgeSmsCode } from '../../../../plugins/accounts/otp/sms-otp-check.ts'
import { newNumber, signUp } from '../../../support/people.ts'
import { buildWithSms } from '../../../support/phone-journeys.ts'

const type = 'confirmation_token'

test('a sign-up while the provider is asked voids its answer: the password is another one by then', async (t) => {
  const server = await buildWithSms(t)
  const { app } = server
  const { db, otp } = app
  const phone = newNumber()
  const spend = async (meanwhile: () => Promise<unknown>) => {
    const typed = { type, phone, aud: app.config.AUTH_JWT_AUD, code: '482910' } as const
    const now = new Date()
    const sms = { testOtp: () => undefined, verify: () => meanwhile().then(() => true) }
    const lifetimes = { mailSeconds: 60, smsSeconds: 60 }
    const key = createSecretKey(randomBytes(32))
    const policy = { tokenKey: key, tokenKeys: [key], lifetimes, takeover: { isShared: false } }
    const judgement = await judgeSmsCode({ sms, ...policy }, db, typed, now)
    return db.transaction().execute((trx) => otp.takeSmsCode(trx, typed, judgement, now))
  }

  await signUp(app, { phone })
  const another = () => Promise.resolve(signUp(app, { phone, password: 'of somebody else' }))
  assert.equal(await spend(another), undefined)
  assert.equal((await spend(async () => {}))?.relates_to, phone)
})
