/** Single sign-on through SimpleSAMLphp, a third-party identity provider. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { suite, type TestContext, test } from 'node:test'

import { decodeJwt } from 'jose'

import { call, refresh } from '../support/requests.ts'
import { sloUrl, visit } from '../support/saml/logout.ts'
import { ask, begin, postForm, samlOn } from '../support/saml/server.ts'
import { build } from '../support/server.ts'
import { openBrowser } from './form-browser.ts'
import { missing } from './programs.ts'
import { signInAt, startSimpleSaml } from './simplesamlphp.ts'

const skip =
  missing('php') || (!existsSync('/usr/share/simplesamlphp/www') && 'not installed: simplesamlphp')

const keys = {
  full_name: { name: 'cn' },
  groups: { name: 'groups', array: true },
}

const variants: Record<string, string[]> = {
  'a signed assertion in a signed response': [],
  'a signed assertion in an unsigned response': [`'saml20.sign.response' => false`],
  'an unsigned assertion in a signed response': [`'saml20.sign.assertion' => false`],
  'an encrypted assertion': [`'assertion.encryption' => true`],
  'the address as NameID': [
    `'NameIDFormat' => 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress'`,
    `'simplesaml.nameidattribute' => 'mail'`,
  ],
}

suite('SimpleSAMLphp', { skip }, () => {
  for (const [title, options] of Object.entries(variants)) {
    test(`signs a user in with ${title}`, async (t) => {
      const { app, id } = await connected(t, options)
      const redirect = await signIn(app, id)
      assert.equal(redirect.status, 302, redirect.location.href)
      const claims = decodeJwt(redirect.fragment.access_token ?? '')
      assert.equal(claims.email, 'ann@corp.example')
      const { full_name, custom_claims } = Object(claims.user_metadata)
      assert.deepEqual(
        { full_name, custom_claims },
        { full_name: 'Ann Lee', custom_claims: { groups: ['a', 'b'] } },
      )
      const again = await signIn(app, id)
      assert.equal(decodeJwt(again.fragment.access_token ?? '').sub, claims.sub)
    })
  }

  test('is rejected with a signature by SHA-1', async (t) => {
    const sha1 = `'signature.algorithm' => 'http://www.w3.org/2000/09/xmldsig#rsa-sha1'`
    const { app, id } = await connected(t, [sha1])
    const redirect = await signIn(app, id)
    assert.match(redirect.query.error_description ?? '', /not allowed/)
  })
})

suite('SimpleSAMLphp: single logout', { skip }, () => {
  test('started at the server also ends the session at the provider', async (t) => {
    const { app, id } = await connected(t, [])
    const browser = openBrowser()
    const { fragment } = await signIn(app, id, browser)
    const redirect_to = 'http://app.example/goodbye'
    const token = fragment.access_token ?? ''
    const { url } = (await call(app, '/logout/sso', { redirect_to }, { token })).json()
    const { action: back } = await browser.run({ action: url })
    assert.ok(back.startsWith(`${sloUrl}?SAMLResponse=`), back)
    assert.equal((await visit(app, back)).headers.location, redirect_to)
    assert.equal((await refresh(app, fragment.refresh_token ?? '')).statusCode, 400)
  })

  test('started at the provider also revokes the session at the server', async (t) => {
    const { app, id, base } = await connected(t, [])
    const browser = openBrowser()
    const { fragment } = await signIn(app, id, browser)
    const after = 'http://127.0.0.1:9/after'
    const start = `${base}saml2/idp/initSLO.php?RelayState=${encodeURIComponent(after)}`
    const { action: request } = await browser.run({ action: start })
    assert.ok(request.startsWith(`${sloUrl}?SAMLRequest=`), request)
    const response = await visit(app, request)
    const answer = String(response.headers.location)
    assert.ok(answer.startsWith(`${base}saml2/idp/SingleLogoutService.php?SAMLResponse=`), answer)
    assert.equal((await browser.run({ action: answer })).action, after)
    assert.equal((await refresh(app, fragment.refresh_token ?? '')).statusCode, 400)
  })
})

type App = Awaited<ReturnType<typeof build>>['app']

async function signIn(app: App, id: string, browser = openBrowser()) {
  const { url } = await begin(app, { provider_id: id })
  return postForm(app, await signInAt(url.href, browser))
}

/** Each has the metadata of the other. */
async function connected(t: TestContext, options: readonly string[]) {
  const env = { ...samlOn, AUTH_SAML_ALLOW_ENCRYPTED_ASSERTIONS: 'true' }
  const { app } = await build(t, { env })
  const { body } = await app.inject('/sso/saml/metadata')
  const certificate = /<X509Certificate>([^<]+)/.exec(body)?.[1] ?? ''
  const entityId = 'http://auth.example/sso/saml/metadata'
  const acsUrl = 'http://auth.example/sso/saml/acs'
  const sp = { entityId, acsUrl, logoutUrl: sloUrl, options, certificate }
  const { base, metadata } = await startSimpleSaml(t, sp)
  const provider = { type: 'saml', metadata_xml: metadata, attribute_mapping: { keys } }
  const added = await ask(app, 'POST', '', provider)
  assert.equal(added.statusCode, 201, added.body)
  return { app, base, id: added.json().id }
}
