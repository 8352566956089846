/** The JavaScript blocks of pages that need an identity provider or an OAuth client, run as they are written. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { createClient as createSdkClient } from '@supabase/supabase-js'
import { allowInsecureRequests } from 'openid-client'

import { createClient, oauthServer, ownConsentPage, signInClient } from '../support/oauth-server.ts'
import { openBrowser, refreshIn } from '../support/page-browser.ts'
import { freePort } from '../support/processes/free-port.ts'
import { refresh, statusAndCode } from '../support/requests.ts'
import { signedResponse } from '../support/saml/idp.ts'
import { idpWithLogout } from '../support/saml/logout.ts'
import { addIdp, post, samlOn } from '../support/saml/server.ts'
import { build } from '../support/server.ts'
import { password, signUpUser } from '../support/users.ts'
import { readBlocks, run } from './javascript-blocks/blocks.ts'

suite('JavaScript blocks', () => {
  test('of docs/sso.md sign in through the identity provider of a domain and sign out there', async (t) => {
    const [signIn = '', logOut = '', ...others] = readBlocks('docs/sso.md')
    assert.deepEqual(others, [])
    const { app, url } = await listen(t, samlOn)
    const provider = idpWithLogout('HTTP-Redirect')
    const { idp } = await addIdp(app, { domains: ['corp.example'] }, provider)
    const supabase = createSdkClient(url, 'anon', { auth: { autoRefreshToken: false } })
    const { data, error } = await run(signIn, { supabase })
    assert.equal(error, null)
    assert.ok(Object(data).url.startsWith(`${idp.entityId}/sso`), Object(data).url)

    const { fragment } = await post(app, signedResponse({ idp, base: url }))
    const { access_token = '', refresh_token = '' } = fragment
    const { data: opened } = await supabase.auth.setSession({ access_token, refresh_token })
    const { session } = opened
    const visited: string[] = []
    const location = { assign: (address: string) => visited.push(address) }
    await run(logOut, { supabase, url, session, location })
    assert.ok(visited[0]?.startsWith(`${idp.entityId}/slo?by=HTTP-Redirect`), visited[0])
    assert.deepEqual((await supabase.auth.getSession()).data.session, null)
    const later = await refresh(app, session?.refresh_token ?? '')
    assert.deepEqual(statusAndCode(later), [400, 'refresh_token_not_found'])
  })

  test('of docs/oauth-clients/mcp.md verify tokens for their resource only', async (t) => {
    const [block = '', ...others] = readBlocks('docs/oauth-clients/mcp.md')
    assert.deepEqual(others, [])
    const resource = 'https://mcp.example.com'
    const { app, url } = await listen(t, ownConsentPage)
    const own = block.replaceAll('https://auth.example.com', url).replace('export ', '')
    const { verifyAccessToken } = await run(own, {})
    assert.ok(typeof verifyAccessToken === 'function')

    const user = await signUpUser(app)
    const client = await createClient(app, { resources: [resource] })
    const { access_token: token } = await signInClient(app, client, user, {
      resource,
      scope: 'openid email',
    })
    const { clientId, scopes, expiresAt } = await verifyAccessToken(token)
    assert.deepEqual([clientId, scopes], [client.client_id, ['openid', 'email']])
    assert.ok(expiresAt > Date.now() / 1000)
    await assert.rejects(verifyAccessToken(user.access_token), /aud/)
  })

  test('of docs/oauth-clients/openid-client.md sign a user in with the defaults of the library', async (t) => {
    const [block = '', ...others] = readBlocks('docs/oauth-clients/openid-client.md')
    assert.deepEqual(others, [])
    const { app, url } = await listen(t, {})
    const redirectUri = 'https://shop.example.com/callback'
    const { client_id, client_secret } = await createClient(app, { redirect_uris: [redirectUri] })
    const own = block
      .replaceAll('https://auth.example.com', url)
      .replaceAll('export ', '')
      .replace('process.env.CLIENT_SECRET,', 'process.env.CLIENT_SECRET, undefined, insecure')
    const { startSignIn, finishSignIn } = await run(own, {
      process: { env: { CLIENT_ID: client_id, CLIENT_SECRET: client_secret } },
      insecure: { execute: [allowInsecureRequests] },
    })
    assert.ok(typeof startSignIn === 'function' && typeof finishSignIn === 'function')

    const { email, user } = await signUpUser(app)
    const { url: start, ...stored } = await startSignIn()
    const browser = openBrowser(app)
    const page = await browser.open(String(start))
    const consent = await browser.submit(page, { email, password, action: 'password' })
    const done = await browser.submit(consent, { action: 'approve' })
    const claims = await finishSignIn(new URL(refreshIn(done.html) ?? ''), stored)
    assert.deepEqual([claims.sub, claims.email], [user.id, email])
  })
})

/** A server whose issuer is the address that it listens on. */
async function listen(t: TestContext, env: Record<string, string>) {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const { app } = await build(t, { env: { ...oauthServer, ...env, AUTH_API_EXTERNAL_URL: url } })
  await app.listen({ host: '127.0.0.1', port })
  return { app, url }
}
