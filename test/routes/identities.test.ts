/** A person adds a way to sign in. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { decodeJwt } from 'jose'

import type { Session } from '../../schemas/session.ts'
import { describe, externalServer, proven, unproven } from '../support/external.ts'
import { link, nextId, unlink, userOf } from '../support/linking.ts'
import { nextMail, open } from '../support/mail-journeys.ts'
import { linkIn } from '../support/mail-links.ts'
import { anonymousPerson, confirmedPerson, createdPerson, newAddress } from '../support/people.ts'
import { bearer } from '../support/requests.ts'

suite('linking', () => {
  test('by a person who is signed in', async (t) => {
    const env = { AUTH_MAILER_NOTIFICATIONS_IDENTITY_LINKED_ENABLED: 'true' }
    const server = await externalServer(t, { env })

    await t.test('adds the identity, tells by mail, and leaves metadata alone', async () => {
      const ann = await confirmedPerson(server, 'ann@ex.test')
      const id = nextId()
      const seen = await link(server, ann, 'github', unproven('elsewhere@ex.test', id))
      assert.ok(seen.fragment.access_token, JSON.stringify(seen.query))
      const user = await userOf(server, ann)
      assert.equal(user.email, 'ann@ex.test')
      assert.deepEqual(user.app_metadata.providers, ['email', 'github'])
      assert.equal(user.user_metadata.name, undefined)
      assert.equal(user.identities?.length, 2)
      assert.ok((await server.auditActions(user.id)).includes('identity_linked'))
      await server.mail.waitFor(
        ({ to, mail }) => to === 'ann@ex.test' && /linked/.test(mail.subject ?? ''),
      )
      const again = await link(server, ann, 'github', unproven('elsewhere@ex.test', id))
      assert.equal(again.query.error_code, 'identity_already_exists')
    })

    await t.test('not what somebody else has', async () => {
      const id = nextId()
      await server.signInWith('github', proven('owner@ex.test', id))
      const bob = await confirmedPerson(server, 'bob@ex.test')
      const seen = await link(server, bob, 'github', proven('owner@ex.test', id))
      assert.equal(seen.query.error_code, 'identity_already_exists')
      assert.equal((await userOf(server, bob)).identities?.length, 1)
    })

    await t.test(
      'an address that was linked unproven opens nothing to whoever proves it',
      async () => {
        const mallory = await confirmedPerson(server, 'mallory@ex.test')
        await link(server, mallory, 'github', unproven('victim@ex.test', nextId()))
        const id = nextId()
        const seen = await server.signInWith('gitlab', proven('victim@ex.test', id))
        assert.ok(seen.fragment.access_token)
        const victim = await server.personWith({ provider: 'gitlab', id })
        assert.notEqual(victim?.id, mallory.user.id)
        assert.equal(victim?.email, 'victim@ex.test')
      },
    )

    await t.test('for a client with a verifier', async () => {
      const carl = await confirmedPerson(server, 'carl@ex.test')
      describe(server.fakes, 'github', proven('carl@ex.test', nextId()))
      const query = { code_challenge: 'c'.repeat(43), code_challenge_method: 'plain' }
      const start = { path: '/user/identities/authorize', headers: bearer(carl), query }
      const { query: seen } = await server.comeBack(await server.goTo('github', start))
      const payload = { auth_code: seen.code, code_verifier: 'c'.repeat(43) }
      const url = '/token?grant_type=pkce'
      const session = (await server.app.inject({ method: 'POST', url, payload })).json<Session>()
      assert.equal(session.user.id, carl.user.id)
    })

    await t.test('without a redirect, for scripts', async () => {
      const dora = await confirmedPerson(server, 'dora@ex.test')
      const url = '/user/identities/authorize?provider=github&skip_http_redirect=true'
      const response = await server.app.inject({ url, headers: bearer(dora) })
      assert.equal(response.statusCode, 200)
      assert.ok(response.json().url.startsWith(server.fakes.github.origin))
      const nobody = await server.app.inject(url)
      assert.equal(nobody.json().error_code, 'no_authorization')
    })

    await t.test('of a person who is gone when they come back', async () => {
      const eve = await confirmedPerson(server, 'eve@ex.test')
      const start = { path: '/user/identities/authorize', headers: bearer(eve) }
      const params = await server.goTo('github', start)
      await server.app.db.deleteFrom('users').where('id', '=', eve.user.id).execute()
      const seen = await server.comeBack(params)
      assert.equal(seen.status, 303)
      // The flow went with the session that began it.
      assert.equal(seen.query.error_code, 'bad_oauth_state')
    })
  })

  test('makes somebody of an anonymous person', async (t) => {
    const server = await externalServer(t)

    await t.test('by a proven address', async () => {
      const guest = await anonymousPerson(server.app)
      const seen = await link(server, guest, 'github', proven('guest@ex.test', nextId()))
      assert.ok(seen.fragment.access_token)
      const user = await userOf(server, guest)
      assert.equal(user.id, guest.user.id)
      assert.equal(user.is_anonymous, false)
      assert.equal(user.email, 'guest@ex.test')
      assert.ok(user.email_confirmed_at)
    })

    await t.test('not by an address that has an owner', async () => {
      await confirmedPerson(server, 'owner@ex.test')
      const guest = await anonymousPerson(server.app)
      const id = nextId()
      const seen = await link(server, guest, 'github', proven('owner@ex.test', id))
      assert.equal(seen.query.error, 'invalid_request')
      assert.equal(seen.query.error_code, 'email_exists')
      assert.equal(await server.personWith({ provider: 'github', id }), undefined)
      assert.equal((await userOf(server, guest)).is_anonymous, true)
    })

    await t.test('not by an address that somebody of another audience has', async () => {
      const email = newAddress('elsewhere')
      await createdPerson(server.app, { email, email_confirm: true, aud: 'other' })
      const anonymous = await anonymousPerson(server.app)
      const seen = await link(server, anonymous, 'github', proven(email, nextId()))
      assert.equal(seen.query.error_code, 'email_exists')
      assert.equal((await userOf(server, anonymous)).is_anonymous, true)
    })

    await t.test('by an unproven address only once its mail is opened', async () => {
      const guest = await anonymousPerson(server.app)
      const seen = await link(server, guest, 'github', unproven('later@ex.test', nextId()))
      assert.equal(seen.query.error_code, 'email_not_confirmed')
      const before = await userOf(server, guest)
      assert.deepEqual([before.email, before.new_email], ['', 'later@ex.test'])
      assert.equal(before.is_anonymous, true)
      const { pathname, search } = new URL(linkIn(await server.mail.waitFor('later@ex.test')))
      await server.app.inject(pathname + search)
      const after = await userOf(server, guest)
      assert.equal(after.email, 'later@ex.test')
      assert.ok(after.email_confirmed_at)
      assert.equal(after.is_anonymous, false)
    })
  })

  test('by an unproven address whose mail was lost: the next sign-in by the identity asks once more', async (t) => {
    const server = await externalServer(t, { env: { AUTH_SMTP_MAX_FREQUENCY: '0' } })
    const guest = await anonymousPerson(server.app)
    const [email, id] = [newAddress('later'), nextId()]
    await link(server, guest, 'github', unproven(email, id))
    await server.mail.waitFor(email)
    const seen = await server.signInWith('github', unproven(email, id))
    assert.equal(seen.query.error_code, 'provider_email_needs_verification')
    const mail = await nextMail(server, email, 1)
    await open(server.app, mail)
    assert.equal((await userOf(server, guest)).email, email)
    const again = await server.signInWith('github', unproven(email, id))
    assert.equal(decodeJwt(again.fragment.access_token ?? '').sub, guest.user.id)
  })

  test('switched off, whoever asks and for what', async (t) => {
    const env = { AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'false' }
    const server = await externalServer(t, { env })
    const ann = await confirmedPerson(server, 'ann@ex.test')
    const url = '/user/identities/authorize?provider=github'
    const asked = await server.app.inject({ url, headers: bearer(ann) })
    for (const response of [asked, await unlink(server, ann, 'x')]) {
      assert.equal(response.statusCode, 404)
      assert.equal(response.json().error_code, 'manual_linking_disabled')
    }
  })
})
