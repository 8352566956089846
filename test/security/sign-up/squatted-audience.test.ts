/** A sign-up in an unused audience does not block the email’s owner. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../../schemas/session.ts'
import { verifiedProfile } from '../../support/external.ts'
import { nextId } from '../../support/linking.ts'
import { emailAfter } from '../../support/messages/mail-journeys.ts'
import { codeIn } from '../../support/messages/mail-links.ts'
import { codeAfter, sharedSmsServer } from '../../support/messages/phone-journeys.ts'
import { sharedExternalServers, sharedServers } from '../../support/processes/shared-servers.ts'
import { call, verify } from '../../support/requests.ts'
import {
  adminCreatedUser,
  invite,
  newAddress,
  newNumber,
  password,
  signedIn,
  unconfirmedUser,
} from '../../support/users.ts'
import { allEvents } from '../../support/webhooks/events.ts'

const allowed = { AUTH_JWT_ALLOWED_AUDIENCES: 'nowhere' }
const other = { headers: { 'x-jwt-aud': 'nowhere' } }

suite('email signed up by an attacker in another audience', () => {
  const servers = sharedServers()
  const external = sharedExternalServers()
  const smsServer = sharedSmsServer({ env: allowed })

  async function squatted(server: Awaited<ReturnType<typeof servers>>): Promise<string> {
    const email = newAddress('victim')
    const squat = { email, password: 'the password of the attacker' }
    await emailAfter(server, email, () => call(server.app, '/signup', squat, other))
    return email
  }

  test('can be signed up with the owner’s password', async () => {
    const server = await servers(allowed)
    const email = await squatted(server)
    const { message } = await unconfirmedUser(server, email)
    const verification = { type: 'signup', email, token: codeIn(message) }
    assert.equal((await verify(server.app, verification)).statusCode, 200)
    assert.equal((await signedIn(server.app, email)).user.aud, 'authenticated')
  })

  test('deletes the attacker’s user and emits user.deleted', async () => {
    const server = await servers({ ...allowed, AUTH_EVENTS_ENABLED: 'true' })
    const email = await squatted(server)
    const { id } = await server.app.db
      .selectFrom('users')
      .select('id')
      .where('email', '=', email)
      .executeTakeFirstOrThrow()
    await unconfirmedUser(server, email)
    assert.equal((await allEvents(server.app, id, 1, 'user.deleted')).length, 1)
  })

  for (const path of ['/otp', '/magiclink']) {
    test(`can sign in by ${path}`, async () => {
      const server = await servers(allowed)
      const email = await squatted(server)
      const message = await emailAfter(server, email, () => call(server.app, path, { email }))
      const verified = await verify(server.app, { type: 'email', email, token: codeIn(message) })
      assert.equal(verified.json<Session>().user.aud, 'authenticated', verified.body)
    })
  }

  test('can be invited', async () => {
    const server = await servers(allowed)
    const email = await squatted(server)
    const message = await invite(server, email)
    const verified = await verify(server.app, { type: 'invite', email, token: codeIn(message) })
    assert.equal(verified.json<Session>().user.aud, 'authenticated', verified.body)
  })

  test('can sign in by a provider that verified it', async () => {
    const server = await external(allowed)
    const email = await squatted(server)
    const { fragment } = await server.signInWith('github', verifiedProfile(email, nextId()))
    assert.ok(fragment.access_token, JSON.stringify(fragment))
  })

  for (const path of ['/signup', '/otp']) {
    test(`applies to phones by ${path}`, async () => {
      const server = await smsServer()
      const phone = newNumber()
      await codeAfter(server, phone, () =>
        call(server.app, '/signup', { phone, password: 'the password of the attacker' }, other),
      )
      const token = await codeAfter(server, phone, () =>
        call(server.app, path, { phone, ...(path === '/signup' && { password }) }),
      )
      const verified = await verify(server.app, { type: 'sms', phone, token })
      assert.equal(verified.json<Session>().user.aud, 'authenticated', verified.body)
    })
  }

  for (const column of ['invited_at', 'last_sign_in_at'] as const) {
    test(`stays in its audience when ${column} is set`, async () => {
      const server = await servers(allowed)
      const email = await squatted(server)
      const users = server.app.db.updateTable('users').where('email', '=', email)
      await users.set({ [column]: new Date() }).execute()
      assert.equal((await call(server.app, '/signup', { email, password })).statusCode, 200)
      const { aud } = await server.app.db
        .selectFrom('users')
        .select('aud')
        .where('email', '=', email)
        .executeTakeFirstOrThrow()
      assert.equal(aud, 'nowhere')
    })
  }

  test('stays in its audience when verified, invited or created by an admin', async () => {
    const server = await servers(allowed)
    const { app } = server
    const verified = await squatted(server)
    const message = await emailAfter(server, verified, () =>
      call(app, '/otp', { email: verified }, other),
    )
    const verification = { type: 'email', email: verified, token: codeIn(message) }
    assert.equal((await call(app, '/verify', verification, other)).statusCode, 200)
    const made = newAddress()
    await adminCreatedUser(app, { email: made, aud: 'nowhere' })
    const invited = newAddress()
    await invite(server, invited)

    for (const email of [verified, made]) {
      assert.equal((await call(app, '/signup', { email, password })).statusCode, 200)
    }
    assert.equal((await call(app, '/signup', { email: invited, password }, other)).statusCode, 200)

    const rows = await app.db
      .selectFrom('users')
      .select(['email', 'aud'])
      .where('email', 'in', [verified, made, invited])
      .execute()
    const audiences = new Map(rows.map(({ email, aud }) => [email, aud]))
    assert.deepEqual(
      [verified, made, invited].map((email) => audiences.get(email)),
      ['nowhere', 'nowhere', 'authenticated'],
    )
  })
})
