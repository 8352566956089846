/** Response modes (OAuth 2.0 Multiple Response Type Encoding Practices, Form Post Response Mode). */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { OauthClient } from '../../../schemas/oauth/client.ts'
import {
  answerAuthorization,
  callbackUrl,
  createClient,
  exchangeCode,
  makePkce,
  oauthServer,
  openRegistration,
  ownConsentPage,
  postForm,
  registerClient,
  requestAuthorization,
  startAuthorization,
} from '../../support/oauth-server.ts'
import { authorizeUrl, refreshIn, signedInBrowser } from '../../support/page-browser.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call } from '../../support/requests.ts'
import type { App } from '../../support/server.ts'
import { signUpUser } from '../../support/users.ts'

const formPost = { response_mode: 'form_post', state: 'a"b' }

/** The form that goes to the client. */
function formIn(html: string) {
  const action = /<form method="post" action="([^"]*)"/.exec(html)?.[1]
  const inputs = [...html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)]
  const fields = inputs.map(([, name = '', value = '']) => [name, value.replace('&quot;', '"')])
  const isSubmitted = html.includes('document.forms[0].submit()')
  return { action, fields: Object.fromEntries(fields) as Record<string, string>, isSubmitted }
}

suite('response_mode', () => {
  const serverFor = sharedServers()
  const hosted = async () => (await serverFor({ ...oauthServer, ...openRegistration })).app
  const own = async () => (await serverFor(ownConsentPage)).app

  async function approveInBrowser(app: App, client: OauthClient, fields: Record<string, string>) {
    const { verifier, challenge } = makePkce()
    const browser = await signedInBrowser(app, (await signUpUser(app)).email)
    const consent = await browser.open(authorizeUrl(client, challenge, fields))
    return { page: await browser.submit(consent, { action: 'approve' }), verifier }
  }

  test('form_post: the page posts code, state and iss to the client', async () => {
    const app = await hosted()
    const client = await createClient(app)
    const { page, verifier } = await approveInBrowser(app, client, formPost)
    const { action, fields, isSubmitted } = formIn(page.html)
    assert.equal(action, callbackUrl)
    assert.deepEqual([fields.state, fields.iss, isSubmitted], ['a"b', app.jwt.issuer, true])
    const policy = String(page.headers['content-security-policy'])
    assert.match(policy, /default-src 'none'.*script-src 'sha256-/)
    assert.doesNotMatch(policy, /form-action/)
    const tokens = await exchangeCode(app, client, fields.code ?? '', { code_verifier: verifier })
    assert.equal(tokens.statusCode, 200, tokens.body)
  })

  test('form_post: a consent page of the operator gets the URL of that page', async () => {
    const app = await own()
    const client = await createClient(app)
    const { challenge } = makePkce()
    const sent = { ...formPost, code_challenge: challenge, code_challenge_method: 'S256' }
    for (const action of ['approve', 'deny'] as const) {
      const id = await startAuthorization(app, client, sent)
      const { access_token: token } = await signUpUser(app)
      await call(app, `/oauth/authorizations/${id}`, undefined, { token })
      const answer = await call(app, `/oauth/authorizations/${id}/consent`, { action }, { token })
      const { pathname, search } = new URL(answer.json().redirect_url)
      const { action: target, fields } = formIn((await app.inject(pathname + search)).body)
      assert.equal(target, callbackUrl)
      assert.equal(fields.error, action === 'deny' ? 'access_denied' : undefined)
      const others = [
        search.replace(/code=[^&]*/, `code=${crypto.randomUUID()}`),
        search.replace(/error=[^&]*/, 'error=server_error'),
        search.replace(/authorization_id=[^&]*/, 'authorization_id=x'),
        action === 'approve' ? search.replace(/code=/, 'error=access_denied&x=') : '',
      ]
      for (const other of others.filter((each) => each !== search)) {
        const refused = await app.inject(pathname + other)
        assert.ok([404, 410].includes(refused.statusCode), other)
        assert.doesNotMatch(refused.body, /<form/)
      }
    }
  })

  test('form_post: an error is posted too, for a self-registered client by the user', async () => {
    const app = await hosted()
    const sent = { redirect_uri: callbackUrl, ...formPost, scope: 'x' }
    const known = await createClient(app)
    const posted = await requestAuthorization(app, { ...sent, client_id: known.client_id })
    const { fields, isSubmitted } = formIn(posted.body)
    assert.deepEqual([posted.statusCode, fields.error, isSubmitted], [200, 'invalid_scope', true])
    const registered = await registerClient(app)
    const shown = await requestAuthorization(app, { ...sent, client_id: registered.client_id })
    const form = formIn(shown.body)
    assert.deepEqual([shown.statusCode, form.fields.error], [400, 'invalid_scope'])
    assert.equal(form.isSubmitted, false)
  })

  test('form_post: prompt=none answers in the form', async () => {
    const app = await hosted()
    const client = await createClient(app)
    const url = authorizeUrl(client, makePkce().challenge, { ...formPost, prompt: 'none' })
    const browser = await signedInBrowser(app, (await signUpUser(app)).email)
    const { fields } = formIn((await browser.open(url)).html)
    assert.equal(fields.error, 'consent_required')
  })

  test('fragment: the response is in the fragment', async () => {
    const app = await hosted()
    const client = await createClient(app, { redirect_uris: [`${callbackUrl}?x=1`] })
    const fields = { response_mode: 'fragment', redirect_uri: `${callbackUrl}?x=1` }
    const { page } = await approveInBrowser(app, client, fields)
    const [target, fragment] = String(refreshIn(page.html)).split('#')
    assert.equal(target, `${callbackUrl}?x=1`)
    assert.match(new URLSearchParams(fragment).get('code') ?? '', /^[0-9a-f-]{36}$/)
  })

  test('query is the default, and others are refused', async () => {
    const app = await own()
    const client = await createClient(app, {
      redirect_uris: [callbackUrl, 'com.example.app:/callback'],
    })
    const { client_id } = client
    const refused = async (response_mode: string, redirect_uri = callbackUrl) => {
      const sent = { client_id, redirect_uri, response_mode, code_challenge: 'x'.repeat(43) }
      return String((await requestAuthorization(app, sent)).headers.location)
    }
    assert.match(await refused('query.jwt'), /\?error=invalid_request&/)
    assert.match(await refused('form_post', 'com.example.app:/callback'), /error=invalid_request/)
    const pkce = { code_challenge: makePkce().challenge, code_challenge_method: 'S256' }
    const id = await startAuthorization(app, client, pkce)
    assert.ok((await answerAuthorization(app, id, await signUpUser(app))).get('code'))
    const pushed = await postForm(app, '/oauth/par', {
      client_id,
      client_secret: client.client_secret,
      redirect_uri: callbackUrl,
      ...pkce,
      response_type: 'code',
      response_mode: 'query.jwt',
    })
    assert.equal(pushed.json().error, 'invalid_request')
    const { response_modes_supported } = (
      await app.inject('/.well-known/oauth-authorization-server')
    ).json()
    assert.deepEqual(response_modes_supported, ['query', 'fragment', 'form_post'])
  })
})
