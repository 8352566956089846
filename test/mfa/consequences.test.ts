/** What follows when a factor is added or removed: entries of the audit trail, mails, and what becomes of sessions. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { asAdmin } from '../support/admin.ts'
import { addTotp, enrol, everyFactor, guarded, prove, send } from '../support/factors.ts'
import { idle } from '../support/mail-journeys.ts'
import { newAddress, newPerson, signedIn, signUp } from '../support/people.ts'
import { outcomeOf } from '../support/requests.ts'
import { sharedServers } from '../support/shared-servers.ts'

suite('a factor that was added or removed', () => {
  const serverFor = sharedServers()

  test('the audit trail tells of each step', async () => {
    const { app } = await serverFor(everyFactor)
    const { session, factor } = await guarded(app)
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

  test('people are told of a factor added and removed, not of one that was only tried', async () => {
    const { app, mail } = await serverFor({
      ...everyFactor,
      AUTH_MAILER_NOTIFICATIONS_MFA_FACTOR_ENROLLED_ENABLED: 'true',
      AUTH_MAILER_NOTIFICATIONS_MFA_FACTOR_UNENROLLED_ENABLED: 'true',
    })
    const tried = await newPerson(app)
    const { id } = await addTotp(app, tried)
    await send(app, 'DELETE', `/factors/${id}`, tried)
    const { email, factor, session } = await guarded(app)
    const raised = await prove(app, session, factor, 1)
    await send(app, 'DELETE', `/factors/${factor.id}`, raised)
    const subject = 'A verification method was removed from your account'
    await mail.waitFor((message) => message.to === email && message.mail.subject === subject)
    const subjects = mail.messages.filter(({ to }) => to === email).map((one) => one.mail.subject)
    assert.deepEqual(subjects.sort(), [
      'A new verification method was added to your account',
      subject,
    ])
    assert.ok(mail.messages.every(({ to }) => to !== tried.email))
  })

  test('an admin removes a factor without a mail, and its sessions fall back', async () => {
    const server = await serverFor({
      ...everyFactor,
      AUTH_MAILER_NOTIFICATIONS_MFA_FACTOR_UNENROLLED_ENABLED: 'true',
    })
    const { app, mail } = server
    const { email, session, factor } = await guarded(app)
    const url = `/admin/users/${session.user.id}/factors/${factor.id}`
    assert.equal((await asAdmin(app, 'DELETE', url)).statusCode, 200)
    await idle(server)
    assert.ok(mail.messages.every(({ to }) => to !== email))
    const outcome = outcomeOf(await enrol(app, session, { factor_type: 'totp' }))
    assert.deepEqual(outcome, [200, ''])
    assert.equal((await signedIn(app, email)).user.factors?.length, 1)
  })

  test('a factor from before the address was proven goes with the password', async () => {
    const { app } = await serverFor({
      ...everyFactor,
      AUTH_MAILER_AUTOCONFIRM: 'false',
      AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS: 'true',
    })
    const email = newAddress()
    await signUp(app, { email })
    const stranger = await signedIn(app, email)
    await prove(app, stranger, await addTotp(app, stranger))
    const { user } = stranger
    await app.db.transaction().execute(async (trx) => {
      const locked = (await app.users.lock(trx, user.id)) ?? assert.fail()
      const keepIdentity = { provider: 'email' } as const
      await app.users.dropUnproven(trx, locked, { keepIdentity, passwordHash: null }, new Date())
    })
    const { rows } = await app.pool.query('select id from auth.mfa_factors where user_id = $1', [
      user.id,
    ])
    assert.deepEqual(rows, [])
  })
})
