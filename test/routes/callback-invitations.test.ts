/** Invitations that are taken up by signing in with a provider. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { describe, externalServer, proven, type Somebody, unproven } from '../support/external.ts'
import { nextId } from '../support/linking.ts'
import { mailAfter, pkcePair, tokenOf } from '../support/mail-journeys.ts'
import { invite, signedIn, unconfirmedPerson } from '../support/people.ts'
import { call, getUser, verify } from '../support/requests.ts'

suite('an invitation', () => {
  test('is taken up by a provider', async (t) => {
    const server = await externalServer(t)
    const { fakes } = server

    async function invited(email: string): Promise<string> {
      return tokenOf(await invite(server, email, { data: { team: 'red' } }))
    }

    async function takeUp(invite_token: string, who: Somebody) {
      describe(fakes, 'github', who)
      return server.comeBack(await server.goTo('github', { query: { invite_token } }))
    }

    await t.test('with its address, proven by the mail', async () => {
      const id = nextId()
      const seen = await takeUp(await invited('guest@ex.test'), unproven('guest@ex.test', id))
      assert.ok(seen.fragment.access_token, JSON.stringify(seen.query))
      const user = await server.personWith({ provider: 'github', id })
      assert.equal(user?.email, 'guest@ex.test')
      assert.ok(user?.email_confirmed_at)
      assert.deepEqual(
        user.identities.map(({ provider }) => provider),
        ['github'],
      )
      assert.ok((await server.auditActions(user.id)).includes('invite_accepted'))
    })

    await t.test('not with another address; the invitation is still good', async () => {
      const invitation = await invited('right@ex.test')
      const seen = await takeUp(invitation, proven('wrong@ex.test', nextId()))
      assert.equal(seen.query.error_code, 'validation_failed')
      const next = await takeUp(invitation, proven('right@ex.test', nextId()))
      assert.ok(next.fragment.access_token)
    })

    await t.test('not with an identity of somebody else', async () => {
      const id = nextId()
      await server.signInWith('github', proven('owner@ex.test', id))
      const seen = await takeUp(await invited('other@ex.test'), unproven('other@ex.test', id))
      assert.equal(seen.query.error_code, 'identity_already_exists')
    })

    await t.test('not by somebody banned', async () => {
      const email = 'banned@ex.test'
      const invitation = await invited(email)
      const banned_until = new Date(Date.now() + 3_600_000)
      await server.app.db
        .updateTable('users')
        .set({ banned_until })
        .where('email', '=', email)
        .execute()
      const query = { invite_token: invitation, ...pkcePair().fields }
      const seen = await server.signInWith('github', proven(email, nextId()), { query })
      assert.equal(seen.query.error_code, 'user_banned')
    })

    await t.test('which voids the other links on their way', async () => {
      const email = 'void@ex.test'
      const invitation = await invited(email)
      const message = await mailAfter(server, email, () => call(server.app, '/recover', { email }))
      await takeUp(invitation, proven(email, nextId()))
      const late = await verify(server.app, { type: 'recovery', token_hash: tokenOf(message) })
      assert.equal(late.json().error_code, 'otp_expired')
    })

    await t.test('which ends the sessions from before it', async (t) => {
      const env = { AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS: 'true' }
      const lenient = await externalServer(t, { env })
      const email = 'ends@ex.test'
      await unconfirmedPerson(lenient, email)
      const stranger = await signedIn(lenient.app, email)
      const query = { invite_token: tokenOf(await invite(lenient, email)) }
      const seen = await lenient.signInWith('github', proven(email, nextId()), { query })
      assert.ok(seen.fragment.access_token, JSON.stringify(seen.query))
      const late = await getUser(lenient.app, stranger)
      assert.equal(late.json().error_code, 'session_not_found')
    })

    await t.test('once', async () => {
      const invitation = await invited('once@ex.test')
      describe(fakes, 'github', proven('once@ex.test', nextId()))
      const start = { query: { invite_token: invitation } }
      const both = [await server.goTo('github', start), await server.goTo('github', start)]
      const codes = []
      for (const params of both) codes.push((await server.comeBack(params)).query.error_code)
      assert.deepEqual(codes, [undefined, 'invite_not_found'])
    })
  })
})
