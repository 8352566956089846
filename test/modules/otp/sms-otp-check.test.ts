import assert from 'node:assert/strict'
import { test } from 'node:test'

import { consumeSmsOtp } from '../../../modules/otp/index.ts'
import { verifySmsOtp } from '../../../modules/otp/sms-otp-check.ts'
import { buildWithSms } from '../../support/messages/phone-journeys.ts'
import type { App } from '../../support/server.ts'
import { newNumber, signUp } from '../../support/users.ts'

const type = 'confirmation_token'

test('rejects an approved SMS OTP when a sign-up changed the password concurrently', async (t) => {
  const server = await buildWithSms(t)
  const { app } = server
  const { db } = app
  const phone = newNumber()
  const consume = async (concurrent: () => Promise<unknown>) => {
    const typed = { type, phone, aud: app.config.AUTH_JWT_AUD, code: '482910' } as const
    const now = new Date()
    const sms = {
      ...app.sms,
      testOtp: () => undefined,
      verify: () => concurrent().then(() => true),
    }
    const withProvider: App = Object.create(app, { sms: { value: sms } })
    const result = await verifySmsOtp(withProvider, db, typed, now)
    return db.transaction().execute((trx) => consumeSmsOtp(app, trx, typed, result, now))
  }

  await signUp(app, { phone })
  const another = () => Promise.resolve(signUp(app, { phone, password: 'of another user' }))
  assert.equal(await consume(another), undefined)
  assert.equal((await consume(async () => {}))?.relates_to, phone)
})
