/** Anybody may name an audience: a sign-up in one that nobody uses keeps no address from its owner. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../schemas/session.ts'
import { allEvents } from '../support/events.ts'
import { proven } from '../support/external.ts'
import { nextId } from '../support/linking.ts'
import { mailAfter } from '../support/mail-journeys.ts'
import { codeIn } from '../support/mail-links.ts'
import {
  createdPerson,
  invite,
  newAddress,
  newNumber,
  password,
  signedIn,
  unconfirmedPerson,
} from '../support/people.ts'
import { codeAfter, sharedSmsServer } from '../support/phone-journeys.ts'
import { call, verify } from '../support/requests.ts'
import { sharedExternalServers, sharedServers } from '../support/shared-servers.ts'

const elsewhere = { headers: { 'x-jwt-aud': 'nowhere' } }

suite('an address that a stranger signed up with in another audience', () => {
  const servers = sharedServers()
  const external = sharedExternalServers()
  const smsServer = sharedSmsServer()

  async function squatted(server: Awaited<ReturnType<typeof servers>>): Promise<string> {
    const email = newAddress('victim')
    const squat = { email, password: 'the password of a stranger' }
    await mailAfter(server, email, () => call(server.app, '/signup', squat, elsewhere))
    return email
  }

  test('signs up, and has the password of its owner', async () => {
    const server = await servers()
    const email = await squatted(server)
    const { message } = await unconfirmedPerson(server, email)
    const proof = { type: 'signup', email, token: codeIn(message) }
    assert.equal((await verify(server.app, proof)).statusCode, 200)
    assert.equal((await signedIn(server.app, email)).user.aud, 'authenticated')
  })

  test('whoever had it elsewhere is gone, and told of as deleted', async () => {
    const server = await servers({ AUTH_EVENTS_ENABLED: 'true' })
    const email = await squatted(server)
    const { id } = await server.app.db
      .selectFrom('users')
      .select('id')
      .where('email', '=', email)
      .executeTakeFirstOrThrow()
    await unconfirmedPerson(server, email)
    assert.equal((await allEvents(server.app, id, 1, 'user.deleted')).length, 1)
  })

  for (const path of ['/otp', '/magiclink']) {
    test(`comes in by ${path}`, async () => {
      const server = await servers()
      const email = await squatted(server)
      const message = await mailAfter(server, email, () => call(server.app, path, { email }))
      const verified = await verify(server.app, { type: 'email', email, token: codeIn(message) })
      assert.equal(verified.json<Session>().user.aud, 'authenticated', verified.body)
    })
  }

  test('can be invited', async () => {
    const server = await servers()
    const email = await squatted(server)
    const message = await invite(server, email)
    const verified = await verify(server.app, { type: 'invite', email, token: codeIn(message) })
    assert.equal(verified.json<Session>().user.aud, 'authenticated', verified.body)
  })

  test('comes in by a provider that has verified it', async () => {
    const server = await external()
    const email = await squatted(server)
    const { fragment } = await server.signInWith('github', proven(email, nextId()))
    assert.ok(fragment.access_token, JSON.stringify(fragment))
  })

  for (const path of ['/signup', '/otp']) {
    test(`and a number, by ${path}`, async () => {
      const server = await smsServer()
      const phone = newNumber()
      await codeAfter(server, phone, () =>
        call(server.app, '/signup', { phone, password: 'the password of a stranger' }, elsewhere),
      )
      const token = await codeAfter(server, phone, () =>
        call(server.app, path, { phone, ...(path === '/signup' && { password }) }),
      )
      const verified = await verify(server.app, { type: 'sms', phone, token })
      assert.equal(verified.json<Session>().user.aud, 'authenticated', verified.body)
    })
  }

  for (const column of ['invited_at', 'last_sign_in_at'] as const) {
    test(`stays where it was signed up with, and ${column} is set`, async () => {
      const server = await servers()
      const email = await squatted(server)
      const people = server.app.db.updateTable('users').where('email', '=', email)
      await people.set({ [column]: new Date() }).execute()
      assert.equal((await call(server.app, '/signup', { email, password })).statusCode, 200)
      const { aud } = await server.app.db
        .selectFrom('users')
        .select('aud')
        .where('email', '=', email)
        .executeTakeFirstOrThrow()
      assert.equal(aud, 'nowhere')
    })
  }

  test('stays where it is proven, was invited, or was made by an admin', async () => {
    const server = await servers()
    const { app } = server
    const proved = await squatted(server)
    const message = await mailAfter(server, proved, () =>
      call(app, '/otp', { email: proved }, elsewhere),
    )
    const proof = { type: 'email', email: proved, token: codeIn(message) }
    assert.equal((await call(app, '/verify', proof, elsewhere)).statusCode, 200)
    const made = newAddress()
    await createdPerson(app, { email: made, aud: 'nowhere' })
    const invited = newAddress()
    await invite(server, invited)

    for (const email of [proved, made]) {
      assert.equal((await call(app, '/signup', { email, password })).statusCode, 200)
    }
    assert.equal(
      (await call(app, '/signup', { email: invited, password }, elsewhere)).statusCode,
      200,
    )

    const rows = await app.db
      .selectFrom('users')
      .select(['email', 'aud'])
      .where('email', 'in', [proved, made, invited])
      .execute()
    const audiences = new Map(rows.map(({ email, aud }) => [email, aud]))
    assert.deepEqual(
      [proved, made, invited].map((email) => audiences.get(email)),
      ['nowhere', 'nowhere', 'authenticated'],
    )
  })
})
