/**
 * Limits of a stolen access token: it cannot add or change a credential without a recent authentication by an older
 * credential (docs/decisions/2026-11-25-fresh-proof.md).
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../../schemas/session.ts'
import { externalServer } from '../../support/external.ts'
import { addTotp, enrol, everyFactor, stepUp } from '../../support/factors/factors.ts'
import { passkeysOn, send } from '../../support/factors/passkeys.ts'
import { nextEmail } from '../../support/messages/mail-journeys.ts'
import { codeIn } from '../../support/messages/mail-links.ts'
import { codeAfter } from '../../support/messages/phone-journeys.ts'
import { startSmsServer } from '../../support/messages/sms-server.ts'
import type { Ending } from '../../support/processes/ending.ts'
import { shareServers } from '../../support/processes/shared-servers.ts'
import { bearer, call, changeUser, refresh, statusAndCode, verify } from '../../support/requests.ts'
import type { BuildOptions } from '../../support/server.ts'
import { bodyOf200, confirmedUser, newAddress, newNumber, password } from '../../support/users.ts'

const needed = [400, 'reauthentication_needed']
const both = {
  AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_REAUTHENTICATION: 'true',
  AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_CURRENT_PASSWORD: 'true',
}
const another = 'another valid password'

type Server = Awaited<ReturnType<typeof startServer>>
type Act = (server: Server, session: Session) => ReturnType<typeof call>

const ways: Record<string, Act> = {
  'a phone': ({ app }, { access_token }) => changeUser(app, access_token, { phone: newNumber() }),
  'another email': ({ app }, { access_token }) =>
    changeUser(app, access_token, { email: newAddress() }),
  'a factor': ({ app }, session) => enrol(app, session, { factor_type: 'totp' }),
  'a passkey': ({ app }, session) =>
    send(app, 'POST', '/passkeys/registration/options', session, {}),
  'an identity': ({ app }, session) => {
    const url = '/user/identities/authorize?provider=github&skip_http_redirect=true'
    return app.inject({ url, headers: bearer(session) })
  },
  'an identity by an id_token': ({ app }, session) =>
    app.inject({
      method: 'POST',
      url: '/token?grant_type=id_token',
      headers: bearer(session),
      payload: { id_token: 'x.y.z', provider: 'google', link_identity: true },
    }),
}

suite('recent authentication', () => {
  const start = shareServers(startServer)

  suite('stolen access token', () => {
    test('cannot add a phone that sets a new password when the current password is required', async () => {
      const server = await start(both)
      const owner = await confirmedUser(server)
      const phone = newNumber()
      const pending = await changeUser(server.app, owner.access_token, { phone })
      assert.deepEqual(statusAndCode(pending), needed)

      // With the current password the phone is added, and still sets no password.
      const attacker = await addPhone(server, owner, phone, { current_password: password })
      const changed = await changeUser(server.app, attacker.access_token, { password: another })
      assert.deepEqual(statusAndCode(changed), needed)
      const { email } = owner.user
      await server.mail.waitFor(
        ({ to, mail }) => to === email && /linked/i.test(mail.subject ?? ''),
      )
    })

    for (const [way, act] of Object.entries(ways)) {
      test(`cannot add ${way} without a recent sign-in`, async () => {
        const server = await start()
        const owner = await aged(server, await confirmedUser(server))
        assert.deepEqual(statusAndCode(await act(server, owner)), needed)
      })

      test(`cannot add ${way} by a phone added within a day`, async () => {
        const server = await start()
        const owner = await confirmedUser(server)
        const attacker = await addPhone(server, owner)
        assert.deepEqual(statusAndCode(await act(server, attacker)), needed)
        // The owner has had a day to react to the mail.
        await server.app.pool.query(
          `update auth.postern_new_sign_in_methods set added_at = added_at - interval '1 day'`,
        )
        assert.notDeepEqual(statusAndCode(await act(server, attacker)), needed)
      })
    }

    test('cannot set a first password in a session without a recent sign-in', async () => {
      const server = await start()
      const owner = await confirmedUser(server)
      await server.app.pool.query('update auth.users set encrypted_password = null')
      const set = (session: Session) =>
        changeUser(server.app, session.access_token, { password: another })
      assert.deepEqual(statusAndCode(await set(await aged(server, owner))), needed)
    })

    test('cannot set a first password by a code to a new phone', async () => {
      const server = await start()
      const owner = await confirmedUser(server)
      await server.app.pool.query('update auth.users set encrypted_password = null')
      await addPhone(server, owner, newNumber(), {}, { password: another })
      const { rows } = await server.app.pool.query(
        'select encrypted_password from auth.users where id = $1',
        [owner.user.id],
      )
      assert.equal(rows[0]?.encrypted_password, null)
    })

    test('cannot add another sign-in method by a password that it has set', async () => {
      const server = await start()
      const owner = await aged(server, await confirmedUser(server))
      bodyOf200(await changeUser(server.app, owner.access_token, { password: another }))
      const { email } = owner.user
      const signIn = () =>
        call(server.app, '/token?grant_type=password', { email, password: another })
      const attacker: Session = bodyOf200(await signIn())
      assert.deepEqual(
        statusAndCode(await enrol(server.app, attacker, { factor_type: 'totp' })),
        needed,
      )
      const shown = { phone: newNumber(), current_password: another }
      assert.deepEqual(
        statusAndCode(await changeUser(server.app, attacker.access_token, shown)),
        needed,
      )
    })

    test('cannot create recovery codes at aal2 without a recent authentication', async () => {
      const server = await start()
      const owner = await confirmedUser(server)
      const aal2 = await stepUp(server.app, owner, await addTotp(server.app, owner))
      const make = (session: Session) =>
        send(server.app, 'POST', '/factors/recovery-codes', session, {})
      assert.deepEqual(statusAndCode(await make(await aged(server, aal2))), needed)
      const { access_token } = aal2
      bodyOf200(await changeUser(server.app, access_token, { current_password: password }))
      assert.equal((await make(aal2)).statusCode, 200)
    })

    test('cannot reauthenticate for a day by a factor it has added', async () => {
      const server = await start()
      const owner = await confirmedUser(server)
      const factor = await addTotp(server.app, owner)
      const steppedUp = await aged(server, await stepUp(server.app, owner, factor))
      const again = await stepUp(server.app, steppedUp, factor, 1)
      assert.deepEqual(
        statusAndCode((await ways['a phone']?.(server, again)) ?? assert.fail()),
        needed,
      )
    })
  })

  suite('reauthentication', () => {
    test('by current password allows the session to add a factor', async () => {
      const server = await start()
      const owner = await aged(server, await confirmedUser(server))
      const wrong = await changeUser(server.app, owner.access_token, { current_password: another })
      assert.deepEqual(statusAndCode(wrong), [400, 'current_password_invalid'])
      assert.deepEqual(
        statusAndCode(await enrol(server.app, owner, { factor_type: 'totp' })),
        needed,
      )
      bodyOf200(await changeUser(server.app, owner.access_token, { current_password: password }))
      assert.equal((await enrol(server.app, owner, { factor_type: 'totp' })).statusCode, 200)
    })

    test('by emailed code allows the session to add a phone', async () => {
      const server = await start()
      const owner = await aged(server, await confirmedUser(server))
      const nonce = await nonceFor(server, owner)
      const { access_token } = owner
      bodyOf200(await changeUser(server.app, access_token, { nonce, phone: newNumber() }))
    })

    test('rejects a code to an email added within a day', async () => {
      const server = await start({ AUTH_MAILER_SECURE_EMAIL_CHANGE_ENABLED: 'false' })
      const owner = await confirmedUser(server)
      const email = newAddress('new')
      bodyOf200(await changeUser(server.app, owner.access_token, { email }))
      const token = codeIn(await nextEmail(server, email))
      const attacker: Session = bodyOf200(
        await verify(server.app, { type: 'email_change', email, token }),
      )
      const options = { token: attacker.access_token }
      const pending = await call(server.app, '/reauthenticate', undefined, options)
      assert.deepEqual(statusAndCode(pending), [400, 'validation_failed'])
    })
  })
})

async function startServer(t: Ending, { env }: BuildOptions) {
  const sms = await startSmsServer()
  t.after(sms.stop)
  const settings = {
    ...everyFactor,
    ...passkeysOn,
    AUTH_MAILER_AUTOCONFIRM: 'false',
    AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'true',
    AUTH_MAILER_NOTIFICATIONS_IDENTITY_LINKED_ENABLED: 'true',
    ...sms.env,
    ...env,
  }
  return { ...(await externalServer(t, { env: settings })), sms }
}

/** The session as if its sign-in were an hour ago. */
async function aged({ app }: Server, session: Session): Promise<Session> {
  await app.pool.query(
    `update auth.mfa_amr_claims set updated_at = updated_at - interval '1 hour', created_at = created_at - interval '1 hour'`,
  )
  await app.pool.query(`update auth.sessions set created_at = created_at - interval '1 hour'`)
  return bodyOf200(await refresh(app, session.refresh_token))
}

/** Adds a phone by PUT /user and returns the session that its code creates. */
async function addPhone(
  server: Server,
  { access_token }: Session,
  phone = newNumber(),
  more: object = {},
  verification: object = {},
): Promise<Session> {
  const send = () => changeUser(server.app, access_token, { phone, ...more })
  const token = await codeAfter(server, phone, send)
  return bodyOf200(
    await verify(server.app, { type: 'phone_change', phone, token, ...verification }),
  )
}

async function nonceFor(server: Server, { access_token, user }: Session): Promise<string> {
  const since = server.mail.messages.length
  bodyOf200(await call(server.app, '/reauthenticate', undefined, { token: access_token }))
  return codeIn(await nextEmail(server, user.email ?? '', since))
}
