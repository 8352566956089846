/** Effects of adding and removing a factor: audit log, emails and sessions. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { clearUnverifiedCredentials, lockAndLoadUser } from '../../../modules/users/index.ts'
import { asAdmin } from '../../support/admin.ts'
import {
  addTotp,
  enrol,
  everyFactor,
  send,
  stepUp,
  userWithTotp,
} from '../../support/factors/factors.ts'
import { waitForIdleQueue } from '../../support/messages/mail-journeys.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { statusAndCode } from '../../support/requests.ts'
import { newAddress, signedIn, signUp, signUpUser } from '../../support/users.ts'

suite('adding and removing a factor', () => {
  const serverFor = sharedServers()

  test('writes audit log entries for each step', async () => {
    const { app } = await serverFor(everyFactor)
    const { session, factor } = await userWithTotp(app)
    await send(app, 'DELETE', `/factors/${factor.id}`, session)
    const { rows } = await app.pool.query(
      `select payload->>'action' as action, payload->'traits'->>'factor_id' as factor
       from auth.audit_log_entries where payload->>'log_type' = 'factor' and payload->>'actor_id' = $1
       order by created_at`,
      [session.user.id],
    )
    assert.deepEqual(
      rows.map(({ action }) => action),
      ['factor_in_progress', 'challenge_created', 'verification_attempted', 'factor_unenrolled'],
    )
    assert.ok(rows.every((row) => row.factor === factor.id))
  })

  test('notifies the user of verified and removed factors, not of unverified ones', async () => {
    const { app, mail } = await serverFor({
      ...everyFactor,
      AUTH_MAILER_NOTIFICATIONS_MFA_FACTOR_ENROLLED_ENABLED: 'true',
      AUTH_MAILER_NOTIFICATIONS_MFA_FACTOR_UNENROLLED_ENABLED: 'true',
    })
    const tried = await signUpUser(app)
    const { id } = await addTotp(app, tried)
    await send(app, 'DELETE', `/factors/${id}`, tried)
    const { email, factor, session } = await userWithTotp(app)
    const steppedUp = await stepUp(app, session, factor, 1)
    await send(app, 'DELETE', `/factors/${factor.id}`, steppedUp)
    const subject = 'A verification method was removed from your account'
    await mail.waitFor((message) => message.to === email && message.mail.subject === subject)
    const subjects = mail.messages.filter(({ to }) => to === email).map((one) => one.mail.subject)
    assert.deepEqual(subjects.sort(), [
      'A new verification method was added to your account',
      subject,
    ])
    assert.ok(mail.messages.every(({ to }) => to !== tried.email))
  })

  test('removal by an admin sends no email and lowers the sessions to aal1', async () => {
    const server = await serverFor({
      ...everyFactor,
      AUTH_MAILER_NOTIFICATIONS_MFA_FACTOR_UNENROLLED_ENABLED: 'true',
    })
    const { app, mail } = server
    const { email, session, factor } = await userWithTotp(app)
    const url = `/admin/users/${session.user.id}/factors/${factor.id}`
    assert.equal((await asAdmin(app, 'DELETE', url)).statusCode, 200)
    await waitForIdleQueue(server)
    assert.ok(mail.messages.every(({ to }) => to !== email))
    const outcome = statusAndCode(await enrol(app, session, { factor_type: 'totp' }))
    assert.deepEqual(outcome, [200, ''])
    assert.equal((await signedIn(app, email)).user.factors?.length, 1)
  })

  test('drops a factor added before the email was verified', async () => {
    const { app } = await serverFor({
      ...everyFactor,
      AUTH_MAILER_AUTOCONFIRM: 'false',
      AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS: 'true',
    })
    const email = newAddress()
    await signUp(app, { email })
    const attacker = await signedIn(app, email)
    await stepUp(app, attacker, await addTotp(app, attacker))
    const { user } = attacker
    await app.db.transaction().execute(async (trx) => {
      const locked = (await lockAndLoadUser(trx, user.id)) ?? assert.fail()
      const keepIdentity = { provider: 'email' } as const
      await clearUnverifiedCredentials(
        app,
        trx,
        locked,
        { keepIdentity, passwordHash: null },
        new Date(),
      )
    })
    const { rows } = await app.pool.query('select id from auth.mfa_factors where user_id = $1', [
      user.id,
    ])
    assert.deepEqual(rows, [])
  })
})
