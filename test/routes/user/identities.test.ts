/** A user links identities. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { decodeJwt } from 'jose'

import type { Session } from '../../../schemas/session.ts'
import {
  describe,
  externalServer,
  unverifiedProfile,
  verifiedProfile,
} from '../../support/external.ts'
import { fetchUser, link, nextId, unlink } from '../../support/linking.ts'
import { nextEmail, open } from '../../support/messages/mail-journeys.ts'
import { linkIn } from '../../support/messages/mail-links.ts'
import { bearer } from '../../support/requests.ts'
import { adminCreatedUser, anonymousUser, confirmedUser, newAddress } from '../../support/users.ts'

suite('/user/identities/authorize', () => {
  test('links identities to the current user', async (t) => {
    const env = { AUTH_MAILER_NOTIFICATIONS_IDENTITY_LINKED_ENABLED: 'true' }
    const server = await externalServer(t, { env })

    await t.test('links the identity, notifies the user and keeps the metadata', async () => {
      const ann = await confirmedUser(server, 'ann@ex.test')
      const id = nextId()
      const seen = await link(server, ann, 'github', unverifiedProfile('elsewhere@ex.test', id))
      assert.ok(seen.fragment.access_token, JSON.stringify(seen.query))
      const user = await fetchUser(server, ann)
      assert.equal(user.email, 'ann@ex.test')
      assert.deepEqual(user.app_metadata.providers, ['email', 'github'])
      assert.equal(user.user_metadata.name, undefined)
      assert.equal(user.identities?.length, 2)
      assert.ok((await server.auditActions(user.id)).includes('identity_linked'))
      await server.mail.waitFor(
        ({ to, mail }) => to === 'ann@ex.test' && /linked/.test(mail.subject ?? ''),
      )
      const again = await link(server, ann, 'github', unverifiedProfile('elsewhere@ex.test', id))
      assert.equal(again.query.error_code, 'identity_already_exists')
    })

    await t.test('rejects an identity of another user', async () => {
      const id = nextId()
      await server.signInWith('github', verifiedProfile('owner@ex.test', id))
      const bob = await confirmedUser(server, 'bob@ex.test')
      const seen = await link(server, bob, 'github', verifiedProfile('owner@ex.test', id))
      assert.equal(seen.query.error_code, 'identity_already_exists')
      assert.equal((await fetchUser(server, bob)).identities?.length, 1)
    })

    await t.test('does not sign in the owner of a linked unverified email', async () => {
      const mallory = await confirmedUser(server, 'mallory@ex.test')
      await link(server, mallory, 'github', unverifiedProfile('victim@ex.test', nextId()))
      const id = nextId()
      const seen = await server.signInWith('gitlab', verifiedProfile('victim@ex.test', id))
      assert.ok(seen.fragment.access_token)
      const victim = await server.findUserBy({ provider: 'gitlab', id })
      assert.notEqual(victim?.id, mallory.user.id)
      assert.equal(victim?.email, 'victim@ex.test')
    })

    await t.test('links for a PKCE client', async () => {
      const carl = await confirmedUser(server, 'carl@ex.test')
      describe(server.fakes, 'github', verifiedProfile('carl@ex.test', nextId()))
      const query = { code_challenge: 'c'.repeat(43), code_challenge_method: 'plain' }
      const start = { path: '/user/identities/authorize', headers: bearer(carl), query }
      const { query: seen } = await server.finishSignIn(await server.startSignIn('github', start))
      const payload = { auth_code: seen.code, code_verifier: 'c'.repeat(43) }
      const url = '/token?grant_type=pkce'
      const session = (await server.app.inject({ method: 'POST', url, payload })).json<Session>()
      assert.equal(session.user.id, carl.user.id)
    })

    await t.test('returns the URL as JSON with skip_http_redirect', async () => {
      const dora = await confirmedUser(server, 'dora@ex.test')
      const url = '/user/identities/authorize?provider=github&skip_http_redirect=true'
      const response = await server.app.inject({ url, headers: bearer(dora) })
      assert.equal(response.statusCode, 200)
      assert.ok(response.json().url.startsWith(server.fakes.github.origin))
      const unknown = await server.app.inject(url)
      assert.equal(unknown.json().error_code, 'no_authorization')
    })

    await t.test('rejects the callback of a user who was deleted in between', async () => {
      const eve = await confirmedUser(server, 'eve@ex.test')
      const start = { path: '/user/identities/authorize', headers: bearer(eve) }
      const params = await server.startSignIn('github', start)
      await server.app.db.deleteFrom('users').where('id', '=', eve.user.id).execute()
      const seen = await server.finishSignIn(params)
      assert.equal(seen.status, 303)
      // The flow was deleted with the session that started it.
      assert.equal(seen.query.error_code, 'bad_oauth_state')
    })
  })

  test('anonymous user linking an identity', async (t) => {
    const server = await externalServer(t)

    await t.test('becomes permanent by a verified email', async () => {
      const guest = await anonymousUser(server.app)
      const seen = await link(server, guest, 'github', verifiedProfile('guest@ex.test', nextId()))
      assert.ok(seen.fragment.access_token)
      const user = await fetchUser(server, guest)
      assert.equal(user.id, guest.user.id)
      assert.equal(user.is_anonymous, false)
      assert.equal(user.email, 'guest@ex.test')
      assert.ok(user.email_confirmed_at)
    })

    await t.test('stays anonymous when the email is taken', async () => {
      await confirmedUser(server, 'owner@ex.test')
      const guest = await anonymousUser(server.app)
      const id = nextId()
      const seen = await link(server, guest, 'github', verifiedProfile('owner@ex.test', id))
      assert.equal(seen.query.error, 'invalid_request')
      assert.equal(seen.query.error_code, 'email_exists')
      assert.equal(await server.findUserBy({ provider: 'github', id }), undefined)
      assert.equal((await fetchUser(server, guest)).is_anonymous, true)
    })

    await t.test('stays anonymous when the email is taken in another audience', async () => {
      const email = newAddress('elsewhere')
      await adminCreatedUser(server.app, { email, email_confirm: true, aud: 'other' })
      const anonymous = await anonymousUser(server.app)
      const seen = await link(server, anonymous, 'github', verifiedProfile(email, nextId()))
      assert.equal(seen.query.error_code, 'email_exists')
      assert.equal((await fetchUser(server, anonymous)).is_anonymous, true)
    })

    await t.test('becomes permanent by an unverified email once it is confirmed', async () => {
      const guest = await anonymousUser(server.app)
      const seen = await link(server, guest, 'github', unverifiedProfile('later@ex.test', nextId()))
      assert.equal(seen.query.error_code, 'email_not_confirmed')
      const before = await fetchUser(server, guest)
      assert.deepEqual([before.email, before.new_email], ['', 'later@ex.test'])
      assert.equal(before.is_anonymous, true)
      const { pathname, search } = new URL(linkIn(await server.mail.waitFor('later@ex.test')))
      await server.app.inject(pathname + search)
      const after = await fetchUser(server, guest)
      assert.equal(after.email, 'later@ex.test')
      assert.ok(after.email_confirmed_at)
      assert.equal(after.is_anonymous, false)
    })
  })

  test('makes an anonymous user permanent by a confirmation that is resent at the next sign-in', async (t) => {
    const server = await externalServer(t, { env: { AUTH_SMTP_MAX_FREQUENCY: '0' } })
    const guest = await anonymousUser(server.app)
    const [email, id] = [newAddress('later'), nextId()]
    await link(server, guest, 'github', unverifiedProfile(email, id))
    await server.mail.waitFor(email)
    const seen = await server.signInWith('github', unverifiedProfile(email, id))
    assert.equal(seen.query.error_code, 'provider_email_needs_verification')
    const mail = await nextEmail(server, email, 1)
    await open(server.app, mail)
    assert.equal((await fetchUser(server, guest)).email, email)
    const again = await server.signInWith('github', unverifiedProfile(email, id))
    assert.equal(decodeJwt(again.fragment.access_token ?? '').sub, guest.user.id)
  })

  test('returns 404 for link and unlink while manual linking is off', async (t) => {
    const env = { AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'false' }
    const server = await externalServer(t, { env })
    const ann = await confirmedUser(server, 'ann@ex.test')
    const url = '/user/identities/authorize?provider=github'
    const requested = await server.app.inject({ url, headers: bearer(ann) })
    for (const response of [requested, await unlink(server, ann, 'x')]) {
      assert.equal(response.statusCode, 404)
      assert.equal(response.json().error_code, 'manual_linking_disabled')
    }
  })
})
