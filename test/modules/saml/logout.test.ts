/** Single logout by SAML: started by this server, and by the identity provider. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { suite, test } from 'node:test'
import { inflateRawSync } from 'node:zlib'

import { serversOnOneDatabase } from '../../support/processes/shared-servers.ts'
import { call, refresh, statusAndCode } from '../../support/requests.ts'
import { type ResponseOptions, signedResponse } from '../../support/saml/idp.ts'
import {
  base64,
  buildLogoutRequest,
  createSamlPeer,
  formIn,
  idpWithLogout,
  postMessage,
  signedMessage,
  visit,
} from '../../support/saml/logout.ts'
import { addIdp, begin, post, samlOn } from '../../support/saml/server.ts'
import type { App } from '../../support/server.ts'
import { bodyOf200 } from '../../support/users.ts'

/** A user who is signed in through the provider. */
async function signIn(app: App, options: ResponseOptions) {
  const { fragment, status, location } = await post(app, signedResponse(options))
  assert.equal(status, 302, location.href)
  const { access_token = '', refresh_token = '' } = fragment
  return { access_token, refresh_token }
}

async function isSignedIn(app: App, { refresh_token }: { refresh_token: string }) {
  const response = await refresh(app, refresh_token)
  if (response.statusCode === 200) return true
  assert.deepEqual(statusAndCode(response), [400, 'refresh_token_not_found'])
  return false
}

const samlMessage = (url: string, name: string) =>
  inflateRawSync(Buffer.from(new URL(url).searchParams.get(name) ?? '', 'base64')).toString()

suite('SAML logout', () => {
  const server = serversOnOneDatabase()

  suite('single logout started at the identity provider', () => {
    test('revokes the sessions of a session index by HTTP-Redirect, with a signed LogoutResponse', async () => {
      const { app } = await server(samlOn)
      const { idp, id } = await addIdp(app, {}, idpWithLogout('HTTP-Redirect', 'HTTP-POST'))
      const ended = await signIn(app, { idp, sessionIndex: 'one' })
      const kept = await signIn(app, { idp, sessionIndex: 'two' })
      const peer = await createSamlPeer(app, idp)
      const user = { nameID: 'ann', nameIDFormat: 'x', sessionIndex: 'one', ID: '', issuer: '' }
      const response = await visit(app, await peer.getLogoutUrlAsync(user, 'state-of-the-peer', {}))
      assert.equal(response.statusCode, 302)
      const url = new URL(String(response.headers.location))
      assert.ok(url.href.startsWith(`${idp.entityId}/slo-response?by=HTTP-Redirect&`), url.href)
      assert.equal(url.searchParams.get('RelayState'), 'state-of-the-peer')
      const read = await peer.validateRedirectAsync(
        Object.fromEntries(url.searchParams),
        url.search.slice(1),
      )
      assert.equal(read.loggedOut, true)
      assert.match(samlMessage(url.href, 'SAMLResponse'), /status:Success/)
      assert.deepEqual([await isSignedIn(app, ended), await isSignedIn(app, kept)], [false, true])
      const headers = { authorization: `Bearer ${ended.access_token}` }
      assert.deepEqual(statusAndCode(await app.inject({ url: '/user', headers })), [
        403,
        'session_not_found',
      ])
      const entries = await app.db.selectFrom('audit_log_entries').select('payload').execute()
      const ours = entries.filter(
        ({ payload }) =>
          payload.action === 'logout' && Object(payload.traits).provider === `sso:${id}`,
      )
      assert.equal(ours.length, 1)
    })

    test('revokes the sessions of a name id by HTTP-POST and responds with a form', async () => {
      const { app } = await server(samlOn)
      const { idp } = await addIdp(app, {}, idpWithLogout('HTTP-Redirect', 'HTTP-POST'))
      const sessions = [
        await signIn(app, { idp, sessionIndex: 'one' }),
        await signIn(app, { idp, sessionIndex: 'two' }),
      ]
      const other = await signIn(app, {
        idp,
        nameId: 'bob',
        attributes: { mail: ['bob@corp.example'] },
      })
      const xml = signedMessage(buildLogoutRequest(idp, { id: '_asked' }), idp, 'LogoutRequest')
      const response = await postMessage(app, { SAMLRequest: base64(xml), RelayState: 'r"<' })
      assert.equal(response.statusCode, 200)
      const { action, fields } = formIn(response.body)
      assert.equal(action, `${idp.entityId}/slo-response?by=HTTP-POST`)
      assert.equal(fields.RelayState, 'r"<')
      const answer = Buffer.from(fields.SAMLResponse ?? '', 'base64').toString()
      assert.ok(answer.includes('InResponseTo="_asked"') && answer.includes('status:Success'))
      const peer = await createSamlPeer(app, idp)
      const read = await peer.validatePostResponseAsync({ SAMLResponse: fields.SAMLResponse ?? '' })
      assert.equal(read.loggedOut, true)
      const states = await Promise.all([...sessions, other].map((each) => isSignedIn(app, each)))
      assert.deepEqual(states, [false, false, true])
    })

    test('revokes a session created by a code, and a code that was not exchanged', async () => {
      const { app } = await server(samlOn)
      const { idp, id } = await addIdp(app, {}, idpWithLogout('HTTP-Redirect'))
      const verifier = 'v'.repeat(50)
      const pkce = {
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 's256',
      }
      const fetchCode = async () => {
        const { relayState, requestId } = await begin(app, { provider_id: id, ...pkce })
        const redirect = await post(app, signedResponse({ idp, requestId }), relayState)
        return { auth_code: redirect.query.code ?? '', code_verifier: verifier }
      }
      const exchange = async (code: object) => call(app, '/token?grant_type=pkce', code)
      const opened = bodyOf200<{ refresh_token: string }>(await exchange(await fetchCode()))
      const late = await fetchCode()
      const peer = await createSamlPeer(app, idp)
      const user = { nameID: 'ann', nameIDFormat: 'x', sessionIndex: 's1', ID: '', issuer: '' }
      await visit(app, await peer.getLogoutUrlAsync(user, '', {}))
      assert.equal(await isSignedIn(app, opened), false)
      assert.deepEqual(statusAndCode(await exchange(late)), [404, 'flow_state_not_found'])
    })

    test('returns success without a session, and redirects to the site for a provider without logout endpoint', async () => {
      const { app } = await server(samlOn)
      for (const [idp, target] of [
        [idpWithLogout('HTTP-POST'), undefined],
        [idpWithLogout(), 'http://app.example'],
      ] as const) {
        await addIdp(app, {}, idp)
        const xml = signedMessage(buildLogoutRequest(idp), idp, 'LogoutRequest')
        const response = await postMessage(app, { SAMLRequest: base64(xml) })
        assert.equal(response.headers.location, target)
        if (target) continue
        const { SAMLResponse = '' } = formIn(response.body).fields
        assert.match(Buffer.from(SAMLResponse, 'base64').toString(), /status:Success/)
      }
    })
  })

  suite('single logout started by this server', () => {
    async function logOut(app: App, token: string, body: object = {}) {
      return bodyOf200<{ url: string }>(await call(app, '/logout/sso', body, { token })).url
    }

    test('revokes the session immediately and redirects to the provider and back to redirect_to', async () => {
      const { app } = await server(samlOn)
      const { idp } = await addIdp(app, {}, idpWithLogout('HTTP-POST', 'HTTP-Redirect'))
      const nameIdFormat = 'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified'
      const ended = await signIn(app, { idp, sessionIndex: 'one', nameIdFormat })
      const kept = await signIn(app, { idp, sessionIndex: 'two', nameIdFormat })
      const redirect_to = 'http://app.example/goodbye'
      const url = new URL(await logOut(app, ended.access_token, { redirect_to }))
      assert.deepEqual([await isSignedIn(app, ended), await isSignedIn(app, kept)], [false, true])
      assert.ok(url.href.startsWith(`${idp.entityId}/slo?by=HTTP-Redirect&`), url.href)
      const peer = await createSamlPeer(app, idp)
      const query = Object.fromEntries(url.searchParams)
      const { profile } = await peer.validateRedirectAsync(query, url.search.slice(1))
      assert.deepEqual(
        [profile?.nameID, profile?.nameIDFormat, profile?.sessionIndex],
        ['ann', nameIdFormat, 'one'],
      )
      assert.ok(profile)
      const { RelayState = '' } = query
      const back = await visit(
        app,
        await peer.getLogoutResponseUrlAsync(profile, RelayState, {}, true),
      )
      assert.deepEqual([back.statusCode, back.headers.location], [302, redirect_to])
      const again = await visit(
        app,
        await peer.getLogoutResponseUrlAsync(profile, RelayState, {}, true),
      )
      assert.match(String(again.headers.location), /saml_relay_state_not_found/)
    })

    test('returns a page that posts the request to a provider without HTTP-Redirect', async () => {
      const { app } = await server(samlOn)
      const { idp } = await addIdp(app, {}, idpWithLogout('HTTP-POST'))
      const { access_token } = await signIn(app, { idp })
      const url = await logOut(app, access_token)
      const page = await visit(app, url)
      assert.equal(page.statusCode, 200)
      const { action, fields } = formIn(page.body)
      assert.equal(action, `${idp.entityId}/slo?by=HTTP-POST`)
      const peer = await createSamlPeer(app, idp)
      const { SAMLRequest = '', RelayState = '' } = fields
      const { profile } = await peer.validatePostRequestAsync({ SAMLRequest })
      assert.deepEqual([profile?.nameID, profile?.sessionIndex], ['ann', 's1'])
      assert.ok(profile)
      const answer = await peer.getLogoutResponseUrlAsync(profile, RelayState, {}, true)
      assert.equal((await visit(app, answer)).headers.location, 'http://app.example')
    })

    test('signs other sessions out like POST /logout with scope local, and returns the next URL', async () => {
      const env = { ...samlOn, AUTH_MAILER_AUTOCONFIRM: 'true' }
      const { app } = await server(env)
      const { idp } = await addIdp(app, {}, idpWithLogout())
      const email = `${crypto.randomUUID()}@corp.example`
      const own = bodyOf200<{ access_token: string; refresh_token: string }>(
        await call(app, '/signup', { email, password: 'correct horse' }),
      )
      for (const session of [await signIn(app, { idp }), own]) {
        const redirect_to = 'http://app.example/goodbye'
        assert.equal(await logOut(app, session.access_token, { redirect_to }), redirect_to)
        assert.equal(await isSignedIn(app, session), false)
      }
      const session = await signIn(app, { idp })
      const redirect_to = 'https://evil.example/'
      assert.equal(await logOut(app, session.access_token, { redirect_to }), 'http://app.example')
    })

    test('returns 401 without a token, and 404 while SAML is disabled', async () => {
      const { app } = await server(samlOn)
      assert.equal((await call(app, '/logout/sso', {})).statusCode, 401)
      const off = await server({ AUTH_MAILER_AUTOCONFIRM: 'true' })
      const email = `${crypto.randomUUID()}@corp.example`
      const { access_token: token } = bodyOf200<{ access_token: string }>(
        await call(off.app, '/signup', { email, password: 'correct horse' }),
      )
      const response = await call(off.app, '/logout/sso', {}, { token })
      assert.deepEqual(statusAndCode(response), [404, 'saml_provider_disabled'])
    })
  })

  suite('GET /sso/saml/metadata', () => {
    test('lists the single logout endpoint for each supported binding', async () => {
      const { app } = await server(samlOn)
      const { body } = await app.inject('/sso/saml/metadata')
      const services = [
        ...body.matchAll(/<SingleLogoutService Binding="([^"]+)" Location="([^"]+)"/g),
      ]
      assert.deepEqual(
        services.map(([, binding, location]) => [binding?.split(':').at(-1), location]),
        [
          ['HTTP-Redirect', 'http://auth.example/sso/saml/slo'],
          ['HTTP-POST', 'http://auth.example/sso/saml/slo'],
        ],
      )
      for (const method of ['GET', 'POST'] as const) {
        const response = await app.inject({ method, url: '/sso/saml/slo' })
        assert.match(String(response.headers.location), /error_code=validation_failed/)
      }
    })
  })
})
