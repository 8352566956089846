/** Invitations accepted by signing in with a provider. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import {
  describe,
  externalServer,
  type ProviderUser,
  unverifiedProfile,
  verifiedProfile,
} from '../../support/external.ts'
import { nextId } from '../../support/linking.ts'
import { emailAfter, emailedToken, pkcePair } from '../../support/messages/mail-journeys.ts'
import { call, getUser, verify } from '../../support/requests.ts'
import { invite, signedIn, unconfirmedUser } from '../../support/users.ts'

suite('GET /callback: invitations', () => {
  test('accepts an invitation through a provider', async (t) => {
    const server = await externalServer(t)
    const { fakes } = server

    async function invited(email: string): Promise<string> {
      return emailedToken(await invite(server, email, { data: { team: 'red' } }))
    }

    async function acceptInvitation(invite_token: string, who: ProviderUser) {
      describe(fakes, 'github', who)
      return server.finishSignIn(await server.startSignIn('github', { query: { invite_token } }))
    }

    await t.test(
      'accepts an invitation with the invited email, which becomes verified',
      async () => {
        const id = nextId()
        const seen = await acceptInvitation(
          await invited('guest@ex.test'),
          unverifiedProfile('guest@ex.test', id),
        )
        assert.ok(seen.fragment.access_token, JSON.stringify(seen.query))
        const user = await server.findUserBy({ provider: 'github', id })
        assert.equal(user?.email, 'guest@ex.test')
        assert.ok(user?.email_confirmed_at)
        assert.deepEqual(
          user.identities.map(({ provider }) => provider),
          ['github'],
        )
        assert.ok((await server.auditActions(user.id)).includes('invite_accepted'))
      },
    )

    await t.test('rejects another email and keeps the invitation valid', async () => {
      const invitation = await invited('right@ex.test')
      const seen = await acceptInvitation(invitation, verifiedProfile('wrong@ex.test', nextId()))
      assert.equal(seen.query.error_code, 'validation_failed')
      const next = await acceptInvitation(invitation, verifiedProfile('right@ex.test', nextId()))
      assert.ok(next.fragment.access_token)
    })

    await t.test('rejects an identity linked to another user', async () => {
      const id = nextId()
      await server.signInWith('github', verifiedProfile('owner@ex.test', id))
      const seen = await acceptInvitation(
        await invited('other@ex.test'),
        unverifiedProfile('other@ex.test', id),
      )
      assert.equal(seen.query.error_code, 'identity_already_exists')
    })

    await t.test('rejects a banned user', async () => {
      const email = 'banned@ex.test'
      const invitation = await invited(email)
      const banned_until = new Date(Date.now() + 3_600_000)
      await server.app.db
        .updateTable('users')
        .set({ banned_until })
        .where('email', '=', email)
        .execute()
      const query = { invite_token: invitation, ...pkcePair().fields }
      const seen = await server.signInWith('github', verifiedProfile(email, nextId()), { query })
      assert.equal(seen.query.error_code, 'user_banned')
    })

    await t.test('invalidates other email links of the user', async () => {
      const email = 'void@ex.test'
      const invitation = await invited(email)
      const message = await emailAfter(server, email, () => call(server.app, '/recover', { email }))
      await acceptInvitation(invitation, verifiedProfile(email, nextId()))
      const late = await verify(server.app, { type: 'recovery', token_hash: emailedToken(message) })
      assert.equal(late.json().error_code, 'otp_expired')
    })

    await t.test('revokes earlier sessions of the user', async (t) => {
      const env = { AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS: 'true' }
      const lenient = await externalServer(t, { env })
      const email = 'ends@ex.test'
      await unconfirmedUser(lenient, email)
      const attacker = await signedIn(lenient.app, email)
      const query = { invite_token: emailedToken(await invite(lenient, email)) }
      const seen = await lenient.signInWith('github', verifiedProfile(email, nextId()), { query })
      assert.ok(seen.fragment.access_token, JSON.stringify(seen.query))
      const late = await getUser(lenient.app, attacker)
      assert.equal(late.json().error_code, 'session_not_found')
    })

    await t.test('accepts an invitation only once', async () => {
      const invitation = await invited('once@ex.test')
      describe(fakes, 'github', verifiedProfile('once@ex.test', nextId()))
      const start = { query: { invite_token: invitation } }
      const both = [
        await server.startSignIn('github', start),
        await server.startSignIn('github', start),
      ]
      const codes = []
      for (const params of both) codes.push((await server.finishSignIn(params)).query.error_code)
      assert.deepEqual(codes, [undefined, 'invite_not_found'])
    })
  })
})
