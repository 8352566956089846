/** Where addresses need no proof, one that a provider has not verified makes an account and never opens somebody's. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../schemas/session.ts'
import { adminCall, asAdmin } from '../support/admin.ts'
import { type ExternalServer, proven, unproven } from '../support/external.ts'
import { link, nextId, unlink, userOf } from '../support/linking.ts'
import {
  anonymousPerson,
  autoconfirm as env,
  newAddress,
  newNumber,
  signUp,
} from '../support/people.ts'
import { sharedExternalServers } from '../support/shared-servers.ts'

type Given = (server: ExternalServer, email: string) => Promise<string>

/** How somebody came to have the address; returns their id. */
const owners: Record<string, Given> = {
  'by password': async (server, email) => (await newcomer(server, email)).user.id,
  'by a provider that has verified it': async (server, email) => {
    const id = nextId()
    await server.signInWith('gitlab', proven(email, id))
    return (await server.personWith({ provider: 'gitlab', id }))?.id ?? assert.fail()
  },
  'by a provider, beside another address': async (server, email) => {
    const session = await newcomer(server, `own-${email}`)
    await link(server, session, 'gitlab', proven(email, nextId()))
    return session.user.id
  },
  'by an admin, unconfirmed': async ({ app }, email) =>
    (await adminCall(app, 'POST', '/admin/users', { email })).id,
  'by an invitation': async ({ app }, email) =>
    (await adminCall(app, 'POST', '/admin/generate_link', { type: 'invite', email })).id,
}

suite('an address that a provider has not verified, under autoconfirm', () => {
  const servers = sharedExternalServers()
  for (const [how, give] of Object.entries(owners)) {
    test(`somebody has it ${how}: no way in, and nothing is linked`, async () => {
      const server = await servers(env)
      const email = newAddress()
      const owner = await give(server, email)
      const before = await server.app.db.selectFrom('identities').selectAll().execute()
      const people = await server.countUsers()
      const seen = await server.signInWith('github', unproven(email, nextId()))
      assert.equal(seen.fragment.access_token, undefined)
      assert.equal(seen.query.error_code, 'provider_email_needs_verification')
      assert.doesNotMatch(seen.query.error_description ?? '', /mailed/)
      const after = await server.app.db.selectFrom('identities').selectAll().execute()
      assert.deepEqual(after, before)
      assert.equal(await server.countUsers(), people)
      const row = await adminCall(server.app, 'GET', `/admin/users/${owner}`)
      assert.equal(
        row.identities?.some(({ provider }) => provider === 'github'),
        false,
      )
    })

    test(`somebody has it ${how}: it does not become an anonymous person's`, async () => {
      const server = await servers(env)
      const email = newAddress()
      await give(server, email)
      const guest = await anonymousPerson(server.app)
      const seen = await link(server, guest, 'github', unproven(email, nextId()))
      assert.equal(seen.query.error_code, 'email_exists')
      assert.equal((await userOf(server, guest)).is_anonymous, true)
    })
  }

  test('a secondary one opens nothing either', async () => {
    const server = await servers(env)
    const [ann, mallory] = [newAddress('ann'), newAddress('mallory')]
    await newcomer(server, ann)
    const id = nextId()
    const emails = [
      { email: mallory, verified: true },
      { email: ann, verified: false },
    ]
    const seen = await server.signInWith('github', { id, emails })
    assert.ok(seen.fragment.access_token)
    const person = await server.personWith({ provider: 'github', id })
    assert.equal(person?.email, mallory)
  })

  test('nobody has it: an account, which the same identity opens again', async () => {
    const server = await servers(env)
    const people = await server.countUsers()
    const who = unproven(newAddress(), nextId())
    for (const _ of [1, 2]) {
      const seen = await server.signInWith('github', who)
      assert.ok(seen.fragment.access_token, JSON.stringify(seen.query))
    }
    const person = await server.personWith({ provider: 'github', id: who.id })
    assert.ok(person?.email_confirmed_at)
    assert.equal((await server.countUsers()) - people, 1)
  })

  test('taking an identity away does not make it the address of the account when somebody has it', async () => {
    const server = await servers(env)
    const ann = await newcomer(server, newAddress('ann'))
    const second = newAddress('second')
    await link(server, ann, 'gitlab', proven(second, nextId()))
    const mallory = await newcomer(server, newAddress('mallory'))
    await link(server, mallory, 'github', unproven(second, nextId()))
    const own = (await userOf(server, mallory)).identities?.find((it) => it.provider === 'email')
    const response = await unlink(server, mallory, own?.identity_id ?? '')
    assert.equal(response.json().error_code, 'email_conflict_identity_not_deletable')
  })

  test('a proven number keeps no unproven address from its owner', async () => {
    const phones = { AUTH_EXTERNAL_PHONE_ENABLED: 'true', AUTH_SMS_AUTOCONFIRM: 'true' }
    const server = await servers(phones)
    const { app } = server
    const session = (await signUp(app, { phone: newNumber() })).json<Session>()
    const seen = await link(server, session, 'github', unproven('victim@ex.test', nextId()))
    assert.equal(seen.query.error_code, 'email_not_confirmed')
    const made = await asAdmin(app, 'POST', '/admin/users', { email: 'victim@ex.test' })
    assert.equal(made.statusCode, 200, made.body)
  })
})

async function newcomer({ app }: ExternalServer, email: string): Promise<Session> {
  return (await signUp(app, { email })).json()
}
