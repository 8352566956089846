/** SEND_EMAIL and SEND_SMS as functions of the database. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { endingOfSuite } from '../../../support/processes/ending.ts'
import { untilRows } from '../../../support/processes/until.ts'
import { verify } from '../../../support/requests.ts'
import { build } from '../../../support/server.ts'
import { newAddress, newNumber, signUp } from '../../../support/users.ts'
import {
  functionEnv,
  makeFunction,
  makeNotes,
  readNotes,
} from '../../../support/webhooks/hook-functions.ts'

suite('send email and send SMS hooks as database functions', () => {
  const ending = endingOfSuite()
  const started = start()

  async function start() {
    const env = {
      ...functionEnv('SEND_EMAIL', 'send'),
      ...functionEnv('SEND_SMS', 'send'),
      AUTH_EXTERNAL_PHONE_ENABLED: 'true',
    }
    const { app } = await build(ending, { env })
    await makeNotes(app)
    const body = `begin insert into operator.notes (event) values (event); return '{}'; end;`
    await makeFunction(app, 'send', body)
    return { app }
  }

  test('receive the same payload as an HTTP receiver', async () => {
    const { app } = await started
    const [email, phone] = [newAddress(), newNumber()]
    await signUp(app, { phone })
    await signUp(app, { email })
    const notes = await untilRows(async () => {
      const rows = await readNotes(app)
      return rows.length === 2 ? rows : []
    })
    const [text, message] = notes
    assert.equal(Object(text?.sms).phone, phone)
    const token = Object(message?.email_data).token
    assert.equal((await verify(app, { type: 'signup', email, token })).statusCode, 200)
  })

  test('retry an email whose function was cancelled by the timeout', async () => {
    const { app } = await started
    await makeFunction(app, 'send', `begin raise exception using errcode = '57014'; end;`)
    await signUp(app, { email: newAddress() })
    const reasons = await untilRows(() =>
      app.db
        .selectFrom('postern_mail_messages')
        .select('state')
        .where('reason', 'like', '%did not finish in time%')
        .execute(),
    )
    assert.deepEqual(reasons, [{ state: 'queued' }])
  })
})
