/** Adding and taking away ways to sign in, by the person themselves, and invitations taken up by a provider. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../schemas/session.ts'
import {
  describe,
  type ExternalServer,
  externalServer,
  type Somebody,
} from '../support/external.ts'
import { linkIn } from '../support/mail-links.ts'

const proven = (email: string, id: string): Somebody => ({
  id,
  emails: [{ email, verified: true }],
})
const unproven = (email: string, id: string): Somebody => ({
  id,
  emails: [{ email, verified: false }],
})

let count = 500
const nextId = () => String(++count)

async function anonymous({ app }: ExternalServer): Promise<Session> {
  return (await app.inject({ method: 'POST', url: '/signup', payload: {} })).json()
}

async function withPassword(server: ExternalServer, email: string): Promise<Session> {
  await server.signUp(email, true)
  return (await server.passwordSignIn(email)).json()
}

const bearer = ({ access_token }: { access_token: string }) => ({
  authorization: `Bearer ${access_token}`,
})

async function link(
  server: ExternalServer,
  who: Session,
  provider: 'github' | 'gitlab',
  as: Somebody,
) {
  describe(server.fakes, provider, as)
  const start = { path: '/user/identities/authorize', headers: bearer(who) }
  return server.comeBack(await server.goTo(provider, start))
}

function unlink({ app }: ExternalServer, who: Session, identityId: string) {
  const url = `/user/identities/${identityId}`
  return app.inject({ method: 'DELETE', url, headers: bearer(who) })
}

async function userOf({ app }: ExternalServer, who: Session): Promise<Session['user']> {
  return (await app.inject({ url: '/user', headers: bearer(who) })).json()
}

function identityId(user: Session['user'], provider: string): string {
  return user.identities?.find((identity) => identity.provider === provider)?.identity_id ?? ''
}

suite('linking', () => {
  test('by a person who is signed in', async (t) => {
    const env = { AUTH_MAILER_NOTIFICATIONS_IDENTITY_LINKED_ENABLED: 'true' }
    const server = await externalServer(t, { env })

    await t.test('adds the identity, tells by mail, and leaves metadata alone', async () => {
      const ann = await withPassword(server, 'ann@ex.test')
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
      await server.signIn('github', proven('owner@ex.test', id))
      const bob = await withPassword(server, 'bob@ex.test')
      const seen = await link(server, bob, 'github', proven('owner@ex.test', id))
      assert.equal(seen.query.error_code, 'identity_already_exists')
      assert.equal((await userOf(server, bob)).identities?.length, 1)
    })

    await t.test(
      'an address that was linked unproven opens nothing to whoever proves it',
      async () => {
        const mallory = await withPassword(server, 'mallory@ex.test')
        await link(server, mallory, 'github', unproven('victim@ex.test', nextId()))
        const id = nextId()
        const seen = await server.signIn('gitlab', proven('victim@ex.test', id))
        assert.ok(seen.fragment.access_token)
        const victim = await server.personWith({ provider: 'gitlab', id })
        assert.notEqual(victim?.id, mallory.user.id)
        assert.equal(victim?.email, 'victim@ex.test')
      },
    )

    await t.test('for a client with a verifier', async () => {
      const carl = await withPassword(server, 'carl@ex.test')
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
      const dora = await withPassword(server, 'dora@ex.test')
      const url = '/user/identities/authorize?provider=github&skip_http_redirect=true'
      const response = await server.app.inject({ url, headers: bearer(dora) })
      assert.equal(response.statusCode, 200)
      assert.ok(response.json().url.startsWith(server.fakes.github.origin))
      const nobody = await server.app.inject(url)
      assert.equal(nobody.json().error_code, 'no_authorization')
    })

    await t.test('of a person who is gone when they come back', async () => {
      const eve = await withPassword(server, 'eve@ex.test')
      const start = { path: '/user/identities/authorize', headers: bearer(eve) }
      const params = await server.goTo('github', start)
      await server.app.db.deleteFrom('users').where('id', '=', eve.user.id).execute()
      const seen = await server.comeBack(params)
      assert.equal(seen.status, 303)
      assert.equal(seen.query.error_code, 'user_not_found')
    })
  })

  test('makes somebody of an anonymous person', async (t) => {
    const server = await externalServer(t)

    await t.test('by a proven address', async () => {
      const guest = await anonymous(server)
      const seen = await link(server, guest, 'github', proven('guest@ex.test', nextId()))
      assert.ok(seen.fragment.access_token)
      const user = await userOf(server, guest)
      assert.equal(user.id, guest.user.id)
      assert.equal(user.is_anonymous, false)
      assert.equal(user.email, 'guest@ex.test')
      assert.ok(user.email_confirmed_at)
    })

    await t.test('not by an address that has an owner', async () => {
      await server.signUp('owner@ex.test', true)
      const guest = await anonymous(server)
      const id = nextId()
      const seen = await link(server, guest, 'github', proven('owner@ex.test', id))
      assert.equal(seen.query.error, 'invalid_request')
      assert.equal(seen.query.error_code, 'email_exists')
      assert.equal(await server.personWith({ provider: 'github', id }), undefined)
      assert.equal((await userOf(server, guest)).is_anonymous, true)
    })

    await t.test('by an unproven address only once its mail is opened', async () => {
      const guest = await anonymous(server)
      const seen = await link(server, guest, 'github', unproven('later@ex.test', nextId()))
      assert.equal(seen.query.error_code, 'email_not_confirmed')
      const before = await userOf(server, guest)
      assert.equal(before.email, 'later@ex.test')
      assert.equal(before.email_confirmed_at, undefined)
      assert.equal(before.is_anonymous, true)
      const { pathname, search } = new URL(linkIn(await server.mail.waitFor('later@ex.test')))
      await server.app.inject(pathname + search)
      const after = await userOf(server, guest)
      assert.ok(after.email_confirmed_at)
      assert.equal(after.is_anonymous, false)
    })
  })

  test('switched off, whoever asks and for what', async (t) => {
    const env = { AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'false' }
    const server = await externalServer(t, { env })
    const ann = await withPassword(server, 'ann@ex.test')
    const url = '/user/identities/authorize?provider=github'
    const asked = await server.app.inject({ url, headers: bearer(ann) })
    for (const response of [asked, await unlink(server, ann, 'x')]) {
      assert.equal(response.statusCode, 404)
      assert.equal(response.json().error_code, 'manual_linking_disabled')
    }
  })
})

suite('unlinking', () => {
  test('by a person who is signed in', async (t) => {
    const env = { AUTH_MAILER_NOTIFICATIONS_IDENTITY_UNLINKED_ENABLED: 'true' }
    const server = await externalServer(t, { env })

    await t.test('refuses what is no id, unknown, or the only one', async () => {
      const ann = await withPassword(server, 'ann@ex.test')
      const refusals: [string, number, string][] = [
        ['x', 404, 'validation_failed'],
        [crypto.randomUUID(), 422, 'single_identity_not_deletable'],
      ]
      for (const [id, status, code] of refusals) {
        const response = await unlink(server, ann, id)
        assert.deepEqual([response.statusCode, response.json().error_code], [status, code])
      }
      await link(server, ann, 'github', proven('ann@ex.test', nextId()))
      const other = await withPassword(server, 'other@ex.test')
      const foreign = identityId(await userOf(server, other), 'email')
      const response = await unlink(server, ann, foreign)
      assert.equal(response.json().error_code, 'identity_not_found')
    })

    await t.test('keeps the address that another identity has', async () => {
      const bob = await withPassword(server, 'bob@ex.test')
      await link(server, bob, 'github', proven('bob@ex.test', nextId()))
      const response = await unlink(server, bob, identityId(await userOf(server, bob), 'github'))
      assert.deepEqual(response.json(), {})
      const user = await userOf(server, bob)
      assert.equal(user.email, 'bob@ex.test')
      assert.deepEqual(user.app_metadata.providers, ['email'])
      assert.ok((await server.auditActions(user.id)).includes('identity_unlinked'))
      await server.mail.waitFor(({ to, mail }) => {
        return to === 'bob@ex.test' && /removed/.test(mail.subject ?? '')
      })
    })

    await t.test('makes another proven address the one of the account', async () => {
      const carl = await withPassword(server, 'carl@ex.test')
      await link(server, carl, 'gitlab', unproven('unproven-carl@ex.test', nextId()))
      await link(server, carl, 'github', proven('carl2@ex.test', nextId()))
      await unlink(server, carl, identityId(await userOf(server, carl), 'email'))
      const user = await userOf(server, carl)
      assert.equal(user.email, 'carl2@ex.test')
      assert.ok(user.email_confirmed_at)
      assert.equal((await server.passwordSignIn('carl2@ex.test')).statusCode, 200)
    })

    await t.test('an unproven one has to be proven again', async () => {
      const dora = await withPassword(server, 'dora@ex.test')
      await link(server, dora, 'github', unproven('dora2@ex.test', nextId()))
      await unlink(server, dora, identityId(await userOf(server, dora), 'email'))
      const user = await userOf(server, dora)
      assert.equal(user.email, 'dora2@ex.test')
      assert.equal(user.email_confirmed_at, undefined)
      assert.equal(user.user_metadata.email_verified, false)
    })

    await t.test('not when somebody else has the only other address', async () => {
      await server.signUp('taken@ex.test', true)
      const eve = await withPassword(server, 'eve@ex.test')
      await link(server, eve, 'github', unproven('taken@ex.test', nextId()))
      const before = await userOf(server, eve)
      const response = await unlink(server, eve, identityId(before, 'email'))
      assert.equal(response.json().error_code, 'email_conflict_identity_not_deletable')
      assert.deepEqual(await userOf(server, eve), before)
    })

    await t.test('of two at once, one stays', async () => {
      const finn = await withPassword(server, 'finn@ex.test')
      await link(server, finn, 'github', proven('finn@ex.test', nextId()))
      const { identities } = await userOf(server, finn)
      const ids = identities?.map(({ identity_id }) => identity_id) ?? []
      const responses = await Promise.all(ids.map((id) => unlink(server, finn, id)))
      assert.deepEqual(responses.map(({ statusCode }) => statusCode).sort(), [200, 422])
      assert.equal((await userOf(server, finn)).identities?.length, 1)
    })
  })
})

suite('an invitation', () => {
  test('is taken up by a provider', async (t) => {
    const server = await externalServer(t)
    const { app, mail, fakes } = server
    const token = await app.jwt.signApiToken({ role: 'service_role', seconds: 60 }, new Date())

    async function invite(email: string): Promise<string> {
      const headers = { authorization: `Bearer ${token}` }
      const payload = { email, data: { team: 'red' } }
      const response = await app.inject({ method: 'POST', url: '/invite', headers, payload })
      assert.equal(response.statusCode, 200, response.body)
      return new URL(linkIn(await mail.waitFor(email))).searchParams.get('token') ?? ''
    }

    async function takeUp(invite_token: string, who: Somebody) {
      describe(fakes, 'github', who)
      return server.comeBack(await server.goTo('github', { query: { invite_token } }))
    }

    await t.test('with its address, proven by the mail', async () => {
      const id = nextId()
      const seen = await takeUp(await invite('guest@ex.test'), unproven('guest@ex.test', id))
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
      const invitation = await invite('right@ex.test')
      const seen = await takeUp(invitation, proven('wrong@ex.test', nextId()))
      assert.equal(seen.query.error_code, 'validation_failed')
      const next = await takeUp(invitation, proven('right@ex.test', nextId()))
      assert.ok(next.fragment.access_token)
    })

    await t.test('once', async () => {
      const invitation = await invite('once@ex.test')
      describe(fakes, 'github', proven('once@ex.test', nextId()))
      const start = { query: { invite_token: invitation } }
      const both = [await server.goTo('github', start), await server.goTo('github', start)]
      const codes = []
      for (const params of both) codes.push((await server.comeBack(params)).query.error_code)
      assert.deepEqual(codes, [undefined, 'invite_not_found'])
    })
  })
})
