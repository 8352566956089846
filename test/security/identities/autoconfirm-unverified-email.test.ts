/** Under autoconfirm, an unverified provider email creates an account and never signs in to an existing one. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../../schemas/session.ts'
import { adminCall, asAdmin } from '../../support/admin.ts'
import { type ExternalServer, unverifiedProfile, verifiedProfile } from '../../support/external.ts'
import { fetchUser, link, nextId, unlink } from '../../support/linking.ts'
import { sharedExternalServers } from '../../support/processes/shared-servers.ts'
import {
  anonymousUser,
  autoconfirm as env,
  newAddress,
  newNumber,
  signUp,
} from '../../support/users.ts'

type Given = (server: ExternalServer, email: string) => Promise<string>

/** Ways a user got the email; returns the user id. */
const owners: Record<string, Given> = {
  'by password': async (server, email) => (await newUser(server, email)).user.id,
  'by a provider that verified it': async (server, email) => {
    const id = nextId()
    await server.signInWith('gitlab', verifiedProfile(email, id))
    return (await server.findUserBy({ provider: 'gitlab', id }))?.id ?? assert.fail()
  },
  'by a provider in addition to another email': async (server, email) => {
    const session = await newUser(server, `own-${email}`)
    await link(server, session, 'gitlab', verifiedProfile(email, nextId()))
    return session.user.id
  },
  'by an admin, unconfirmed': async ({ app }, email) =>
    (await adminCall(app, 'POST', '/admin/users', { email })).id,
  'by an invitation': async ({ app }, email) =>
    (await adminCall(app, 'POST', '/admin/generate_link', { type: 'invite', email })).id,
}

suite('unverified provider email under autoconfirm', () => {
  const servers = sharedExternalServers()
  for (const [how, give] of Object.entries(owners)) {
    test(`neither signs in nor links when the email was taken ${how}`, async () => {
      const server = await servers(env)
      const email = newAddress()
      const owner = await give(server, email)
      const before = await server.app.db.selectFrom('identities').selectAll().execute()
      const users = await server.countUsers()
      const seen = await server.signInWith('github', unverifiedProfile(email, nextId()))
      assert.equal(seen.fragment.access_token, undefined)
      assert.equal(seen.query.error_code, 'provider_email_needs_verification')
      assert.doesNotMatch(seen.query.error_description ?? '', /confirmation email/)
      const after = await server.app.db.selectFrom('identities').selectAll().execute()
      assert.deepEqual(after, before)
      assert.equal(await server.countUsers(), users)
      const row = await adminCall(server.app, 'GET', `/admin/users/${owner}`)
      assert.equal(
        row.identities?.some(({ provider }) => provider === 'github'),
        false,
      )
    })

    test(`does not make an anonymous user permanent when the email was taken ${how}`, async () => {
      const server = await servers(env)
      const email = newAddress()
      await give(server, email)
      const guest = await anonymousUser(server.app)
      const seen = await link(server, guest, 'github', unverifiedProfile(email, nextId()))
      assert.equal(seen.query.error_code, 'email_exists')
      assert.equal((await fetchUser(server, guest)).is_anonymous, true)
    })
  }

  test('does not sign in by a secondary email', async () => {
    const server = await servers(env)
    const [ann, mallory] = [newAddress('ann'), newAddress('mallory')]
    await newUser(server, ann)
    const id = nextId()
    const emails = [
      { email: mallory, verified: true },
      { email: ann, verified: false },
    ]
    const seen = await server.signInWith('github', { id, emails })
    assert.ok(seen.fragment.access_token)
    const user = await server.findUserBy({ provider: 'github', id })
    assert.equal(user?.email, mallory)
  })

  test('creates an account for a free email and signs the identity in again', async () => {
    const server = await servers(env)
    const users = await server.countUsers()
    const who = unverifiedProfile(newAddress(), nextId())
    for (const _ of [1, 2]) {
      const seen = await server.signInWith('github', who)
      assert.ok(seen.fragment.access_token, JSON.stringify(seen.query))
    }
    const user = await server.findUserBy({ provider: 'github', id: who.id })
    assert.ok(user?.email_confirmed_at)
    assert.equal((await server.countUsers()) - users, 1)
  })

  test('is not made the account’s email by unlinking when it is taken', async () => {
    const server = await servers(env)
    const ann = await newUser(server, newAddress('ann'))
    const second = newAddress('second')
    await link(server, ann, 'gitlab', verifiedProfile(second, nextId()))
    const mallory = await newUser(server, newAddress('mallory'))
    await link(server, mallory, 'github', unverifiedProfile(second, nextId()))
    const own = (await fetchUser(server, mallory)).identities?.find((it) => it.provider === 'email')
    const response = await unlink(server, mallory, own?.identity_id ?? '')
    assert.equal(response.json().error_code, 'email_conflict_identity_not_deletable')
  })

  test('does not block the email’s owner when the account has a verified phone', async () => {
    const phones = { AUTH_EXTERNAL_PHONE_ENABLED: 'true', AUTH_SMS_AUTOCONFIRM: 'true' }
    const server = await servers(phones)
    const { app } = server
    const session = (await signUp(app, { phone: newNumber() })).json<Session>()
    const seen = await link(
      server,
      session,
      'github',
      unverifiedProfile('victim@ex.test', nextId()),
    )
    assert.equal(seen.query.error_code, 'email_not_confirmed')
    const made = await asAdmin(app, 'POST', '/admin/users', { email: 'victim@ex.test' })
    assert.equal(made.statusCode, 200, made.body)
  })
})

async function newUser({ app }: ExternalServer, email: string): Promise<Session> {
  return (await signUp(app, { email })).json()
}
